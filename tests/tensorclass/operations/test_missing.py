"""An attribute that does not exist says what to use instead, where tensordict has it; and nothing else changes."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from qten_gen import TensorClass

from .declared import Batch, example


class Measured(TensorClass):
    """A class with a property that fails, and one that is called like a method of tensordict."""

    x: Tensor

    @property
    def length(self) -> int:
        raise AttributeError("no ruler")

    @property
    def pack(self) -> int:
        raise AttributeError("no box")

    @property
    def depth(self) -> int:
        return 3


def test_an_object_says_what_to_use_instead() -> None:
    value: Any = example()
    with pytest.raises(AttributeError, match=r"^Batch has no attribute 'popitem'; the fields are those of the class"):
        value.popitem()


def test_a_class_says_what_to_use_instead() -> None:
    cls: Any = Batch
    with pytest.raises(AttributeError, match=r"^Batch has no attribute 'from_csv'; write a table with"):
        cls.from_csv("batch.csv")


@pytest.mark.parametrize("owner", [example(), Batch])
def test_an_unknown_name_is_a_plain_attribute_error(owner: Any) -> None:
    with pytest.raises(AttributeError, match=r"'Batch'.* has no attribute 'lenght'$"):
        owner.lenght  # noqa: B018 # reading it is the test
    assert not hasattr(owner, "lenght") and not hasattr(owner, "popitem")


@pytest.mark.parametrize(("name", "message"), [("length", "no ruler"), ("pack", "no box")])
def test_what_a_property_raises_is_not_hidden(name: str, message: str) -> None:
    with pytest.raises(AttributeError, match=message):
        getattr(Measured(torch.ones(2)), name)


def test_a_class_may_have_an_attribute_of_such_a_name() -> None:
    assert Measured(torch.ones(2)).depth == 3


def test_a_class_may_find_attributes_of_its_own() -> None:
    class Open(TensorClass):
        x: Tensor

        def __getattr__(self, name: str) -> str:
            return name

    assert Open(torch.ones(2)).popitem == "popitem"
