"""Classes that come with mixins, protocols and attribute hooks of their own."""

from __future__ import annotations

import copy
import pickle
from abc import ABC, abstractmethod
from typing import Any, Protocol

import pytest
import torch
from torch import Tensor
from torch.utils import _pytree

from qten_gen import TensorClass


class HasTokens(Protocol):
    tokens: Tensor


class GivesTokens(Protocol):
    @property
    def tokens(self) -> Tensor: ...


class AbstractTokens(ABC):
    @property
    @abstractmethod
    def tokens(self) -> Tensor: ...


class Behind(TensorClass, GivesTokens):
    tokens: Tensor  # pyright: ignore[reportIncompatibleMethodOverride] # a field is what the property asks for


class InFront(GivesTokens, TensorClass):
    tokens: Tensor  # pyright: ignore[reportIncompatibleMethodOverride] # a field is what the property asks for


class Plain(HasTokens, TensorClass):
    tokens: Tensor


class Concrete(AbstractTokens, TensorClass):
    tokens: Tensor  # pyright: ignore[reportIncompatibleMethodOverride] # a field is what the property asks for


class Opened(TensorClass, open=True):
    """Has a `__dict__`."""

    tokens: Tensor
    inner: Opened | None = None


class Slotted(TensorClass):
    """Has a slot that holds no field."""

    __slots__ = ("note",)
    tokens: Tensor


class FrozenWithSlot(TensorClass, frozen=True):
    """As a frozen class."""

    __slots__ = ("note",)
    tokens: Tensor


class Strict(TensorClass):
    """Takes fields only, each twice as large."""

    tokens: Tensor

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in ("tokens", "batch_size"):
            raise AttributeError(f"no {name}")
        super().__setattr__(name, value * 2 if name == "tokens" else value)


class Stricter(Strict):
    mask: Tensor

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "mask":
            object.__setattr__(self, name, value)
        else:
            super().__setattr__(name, value)


class Forwarding(TensorClass):
    """Gives what it does not know itself to its tensor."""

    tokens: Tensor

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise LookupError(f"asked for {name}")
        return getattr(self.tokens, name)


def through_everything(made: Any) -> list[Any]:
    """The object in all the ways in which objects are made without a constructor."""
    return [
        made[:],
        copy.copy(made),
        copy.deepcopy(made),
        pickle.loads(pickle.dumps(made)),
        torch.stack([made, made])[0],
        _pytree.tree_map(torch.clone, made),
        made.split(2)[0],
        made.reshape(-1),
    ]


@pytest.mark.parametrize("cls", [Behind, InFront, Plain, Concrete])
def test_a_field_is_what_a_protocol_asks_for(cls: Any) -> None:
    made = cls(torch.ones(2), batch_size=2)
    assert isinstance(made, cls)
    for each in through_everything(made):
        assert type(each) is cls
        assert each.tokens.equal(torch.ones(2))
    made.tokens = torch.zeros(2)
    assert made.tokens.equal(torch.zeros(2))


def test_a_user_setattr_sees_fields_only() -> None:
    for made in (Strict(torch.ones(2), batch_size=2), Stricter(torch.ones(2), torch.ones(2), batch_size=2)):
        for each in through_everything(made):
            assert each.tokens.equal(torch.ones(2))
        made.tokens = torch.ones(2)
        assert made.tokens.equal(torch.full((2,), 2.0))
        with pytest.raises(AttributeError, match="no toknes"):
            made.toknes = torch.ones(2)
        with made.lock_(), pytest.raises(RuntimeError, match="locked"):
            made.tokens = torch.ones(2)


def test_a_user_getattr_is_not_asked_for_private_attributes() -> None:
    made = Forwarding(torch.ones(2), batch_size=2)
    with made.lock_():
        assert made.is_locked
    for each in through_everything(made):
        assert each.tokens.equal(torch.ones(2))
    assert made.is_sparse is False


def copies(value: Any) -> list[Any]:
    found = [copy.copy(value), copy.deepcopy(value)]
    return found + [pickle.loads(pickle.dumps(value, protocol)) for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)]


@pytest.mark.parametrize("cls", [Opened, Slotted, FrozenWithSlot])
def test_copies_and_pickles_keep_attributes_that_are_not_fields(cls: type) -> None:
    made = cls(torch.ones(2), batch_size=2)
    assert [hasattr(each, "note") for each in copies(made)] == [False] * 6
    object.__setattr__(made, "note", ["a"])
    assert [each.note for each in copies(made)] == [["a"]] * 6
    assert copy.copy(made).note is made.note and copy.deepcopy(made).note is not made.note
    assert not hasattr(made.clone(), "note") and not hasattr(made[0], "note")


def test_copies_keep_the_attributes_of_nested_objects() -> None:
    made: Any = Opened(torch.ones(2), Opened(torch.ones(2), batch_size=2), batch_size=2)
    made.inner.note = "a"
    assert [each.inner.note for each in copies(made)] == ["a"] * 6


def test_an_own_constructor_has_to_call_the_generated_one() -> None:
    class Assigning(TensorClass):
        tokens: Tensor

        def __init__(self) -> None:
            self.tokens = torch.ones(2)
            super().__init__(self.tokens)

    expected = r"Assigning.__init__ has to call super\(\).__init__\(...\) first"
    with pytest.raises(TypeError, match=expected) as caught:
        Assigning()
    assert isinstance(caught.value.__cause__, AttributeError)
