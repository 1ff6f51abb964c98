"""TensorClasses made from dataclasses."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from torch import Tensor

from qten_gen import DeclarationError, TensorClass, from_dataclass, is_tensorclass

from ..declared import Flat, Point, flat, point


@dataclass
class Base:
    x: Tensor


@dataclass
class Plain(Base):
    """A dataclass."""

    point: Point
    tags: list[str] = field(default_factory=list)
    scale: float = field(default=1.0, kw_only=True)

    def doubled(self) -> Tensor:
        return self.x * 2


Made: Any = from_dataclass(Plain, name="Made", nocast=True)


@from_dataclass
@dataclass
class Decorated:
    x: Tensor


def test_a_dataclass_becomes_a_tensorclass() -> None:
    made = Made(torch.ones(2), point(2), ["a"], batch_size=2)
    assert is_tensorclass(Made) and made._fields == ("x", "point", "tags", "scale")
    assert (made[0].point.batch_size, made.tags, made.scale) == (torch.Size(), ["a"], 1.0)
    assert made.doubled().equal(torch.full((2,), 2.0))
    converted: Any = Made.from_dataclass(Plain(torch.ones(2), point(2)), batch_size=2)
    assert converted.tags == []
    assert Made.__doc__ == "A dataclass."


def test_pickle_finds_it() -> None:
    for value in (Made(torch.ones(2), point(2), batch_size=2), Decorated(torch.ones(2), batch_size=2)):  # type: ignore[call-arg]
        assert pickle.loads(pickle.dumps(value)).x.equal(torch.ones(2))


@dataclass
class Nested:
    inner: Base | None


@dataclass
class Computed:
    x: Tensor = field(init=False)


@dataclass
class Unsupported:
    x: tuple[Tensor, ...]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (Nested, r"Nested\.inner: Base is a dataclass"),
        (Computed, r"Computed\.x: a field with init=False"),
        (int, "expected a dataclass, got <class 'int'>"),
        (Flat, "expected a dataclass"),
        (Base(torch.ones(2)), "expected a dataclass"),
    ],
)
def test_what_cannot_be_one_is_refused(source: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        from_dataclass(source)


def test_what_a_class_statement_refuses_is_refused() -> None:
    with pytest.raises(DeclarationError, match="QG208"):
        from_dataclass(Unsupported)


def test_classes_and_objects_are_told_apart_from_others() -> None:
    assert is_tensorclass(TensorClass) and is_tensorclass(Flat) and is_tensorclass(flat(2))
    assert not any(is_tensorclass(value) for value in (Base, 3, None, int, torch.ones(2)))
