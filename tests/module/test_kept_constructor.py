"""A child of a class that writes its own `__init__`, and keeps it with `init=False`."""

from typing import Any, cast

import pytest
from torch import Tensor, nn

from qten_gen import Module, TensorClass, field
from qten_gen.model.diagnostics import DeclarationError
from tests.sources.kinds import modules


class Base(Module):
    size: int

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.size = 2 * dim


class Child(Base, init=False):
    def halved(self) -> float:
        return self.size / 2


class Grandchild(Child, init=False):
    pass


@pytest.mark.parametrize("cls", [Child, Grandchild])
def test_the_constructor_of_the_parent_is_kept(cls: type[Child]) -> None:
    assert cls(3).halved() == 3.0


def test_a_generated_class_keeps_it_too() -> None:
    assert modules.Kept(3).bias.shape == (3,)


class Silent(Base):
    note: str = "kept"
    _cache: Tensor | None = None


class Sized(Module):
    size: int


class Doubled(Sized):
    def __init__(self, dim: int) -> None:
        super().__init__(2 * dim)


def test_below_hand_written_constructors_alone_a_child_says_nothing() -> None:
    made = cast(Any, Silent)(3)
    assert (made.size, made.note, Silent.note) == (6, "kept", "kept")


def test_a_child_below_a_generated_constructor_too_is_told_what_to_write() -> None:
    with pytest.raises(DeclarationError, match=r"write class Unsaid\(Doubled, init=False\) to inherit it"):

        class Unsaid(Doubled):
            pass


class Built(Module):
    def __init__(self) -> None:
        super().__init__()
        self.build()

    def build(self) -> None: ...


def test_field_has_no_effect_below_a_hand_written_constructor() -> None:
    with pytest.raises(DeclarationError, match=r"so the specifier of rate has no effect"):

        class Rated(Built):
            rate: float = field(default=0.5)


def test_there_has_to_be_a_constructor_to_keep() -> None:
    with pytest.raises(DeclarationError, match=r"no base of Empty has a hand-written __init__"):

        class Empty(Module, init=False):
            size: int


class Bare(Module, init=False):
    """Has attributes, and the constructor of nn.Module."""

    rate: float = 0.5
    _cache: dict[str, int] | None = None


class Filled(Bare):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.rate = 0.25
        self.head = nn.Linear(dim, 1)


class StillBare(Bare, init=False):
    size: int = 3


def test_directly_below_module_the_constructor_of_torch_is_kept() -> None:
    assert (Bare().rate, Bare()._cache, StillBare().size, Filled(2).rate) == (0.5, None, 3, 0.25)
    assert list(Filled(2).state_dict()) == ["head.weight", "head.bias"]
    with pytest.raises(TypeError):
        Bare(2)  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]  # what is tested


def test_a_tensorclass_has_no_such_flag() -> None:
    with pytest.raises(DeclarationError, match=r"TensorClass has no flag 'init'"):

        class Batch(TensorClass, init=False):  # pyright: ignore[reportGeneralTypeIssues]  # what is tested
            pass
