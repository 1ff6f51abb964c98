"""A compiled function is compiled once for objects of one size, and once more for those of others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._dynamo.testing import CompileCounter

from qten_gen import PerItem, TensorClass
from tests.tensorclass.declared import Flat, Point, flat


class Outer(TensorClass):
    """An object in an object."""

    x: Tensor
    point: Point


class Titled(TensorClass):
    """A Python value an item."""

    x: Tensor
    title: PerItem[str]


def outer(length: int) -> Outer:
    return Outer(
        torch.rand(length, 3), Point(torch.rand(length, 2), torch.rand(length), batch_size=length), batch_size=length
    )


def titled(length: int) -> Titled:
    return Titled(torch.rand(length, 3), [f"item {at}" for at in range(length)], batch_size=length)


def unlocked(value: Any) -> Any:
    value.lock_()
    value.unlock_()
    return value.replace(x=value.x + 1)


FUNCTIONS: list[tuple[str, Callable[[int], Any], Callable[[Any], Any]]] = [
    (
        "update",
        outer,
        lambda value: value.clone().update({"x": value.x * 2, ("point", "weight"): value.point.weight * 2}),
    ),
    ("unlock", outer, unlocked),
    ("index", titled, lambda value: value[1:]),
    ("reverse", titled, lambda value: value.flip(0) * 2),
    ("pad", flat, lambda value: value.pad((1, 2), 7.0)),
    ("repeat", flat, lambda value: value.repeat(2)),
    ("tensor", flat, lambda value: value + value.y * 2),
    ("left", flat, lambda value: value.y - value),
    ("stack", flat, lambda value: Flat.stack((value, value + 1))),
    ("number", flat, lambda value: value.logical_and(2)),
]


@pytest.mark.parametrize(("make", "function"), [row[1:] for row in FUNCTIONS], ids=[row[0] for row in FUNCTIONS])
def test_objects_of_several_sizes_are_compiled_twice_at_most(make: Any, function: Any) -> None:
    torch.compiler.reset()
    counter: Any = CompileCounter()
    compiled: Any = torch.compile(function, backend=counter, fullgraph=True)
    for length in (4, 4, 5, 6, 7):
        value = make(length)
        got, wanted = compiled(value), function(value)
        assert got.batch_size == wanted.batch_size
        for mine, theirs in zip(got._leaves(), wanted._leaves(), strict=True):
            torch.testing.assert_close(mine, theirs)
    assert counter.frame_count <= 2
