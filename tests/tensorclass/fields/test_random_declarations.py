"""Classes with random fields against the same operations on each field's plain tensors and values.

The text that is generated depends on the declaration alone, and both readers give equal ones: see `tests/declaring`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from qten_gen import PerItem, TensorClass, Unbatched, from_dataclass

from ..declared import Flat, flat

SIZE = 3
Values = dict[str, Any]


class Kind(NamedTuple):
    """A kind of field."""

    annotation: object
    make: Callable[[], object]
    """A value for a batch of `SIZE`."""
    is_carried: bool = True
    """Whether operations on the batch apply to it."""


TABLE, ARRAY = torch.eye(2), numpy.ones(2)
KINDS = [
    Kind(Tensor, lambda: torch.rand(SIZE, 2)),
    Kind(Tensor | None, lambda: torch.rand(SIZE)),
    Kind(Tensor | None, lambda: None),
    Kind(float, lambda: 1),
    Kind(int | None, lambda: numpy.int64(2)),
    Kind(bool, lambda: 0),
    Kind(complex, lambda: 0.5),
    Kind(Unbatched[Tensor], lambda: TABLE, False),
    Kind(dict[str, Tensor], lambda: {"a": torch.rand(SIZE), "b": torch.rand(SIZE, 2)}),
    Kind(dict[str, Tensor], lambda: {"b": torch.rand(SIZE, 2), "a": torch.rand(SIZE)}),
    Kind(list[Tensor] | None, lambda: [torch.rand(SIZE)]),
    Kind(Flat, lambda: flat(SIZE)),
    Kind(PerItem[str], lambda: ["a", "b", "c"]),
    Kind(str, lambda: "note", False),
    Kind(Any, lambda: [1, ("a", ARRAY)], False),
]
NAMES: tuple[str, ...] = ("x", "data", "depth", "_position", "type", "n", "value", "mask_")
DTYPES: dict[object, torch.dtype] = {float: torch.float32, bool: torch.bool, complex: torch.complex64}

kinds = st.lists(st.sampled_from(KINDS), min_size=1, max_size=len(NAMES))


def declared(given: list[Kind]) -> tuple[Any, dict[str, Kind]]:
    """A class with such fields, and the kind of each field."""
    fields = dict(zip(NAMES, given, strict=False))
    namespace = {"__annotations__": {name: kind.annotation for name, kind in fields.items()}}
    return from_dataclass(dataclasses.dataclass(type("Made", (), namespace)), name="Made"), fields


def plain(kind: Kind, value: object) -> object:
    """What a field holds, as tensors and lists; a number as the tensor that its annotation says."""
    if isinstance(value, (bool, int, float, numpy.integer)):
        return torch.full((SIZE,), float(value), dtype=DTYPES.get(kind.annotation, torch.int64))
    return dict(value.items()) if isinstance(value, Flat) else value


def read(value: object) -> object:
    """What an object's field holds, in the form of `plain`."""
    if isinstance(value, PerItem):
        return value.tolist()
    return {name: read(each) for name, each in value.items()} if isinstance(value, TensorClass) else value


def mapped(value: Any, tensor: Callable[[Tensor], object], other: Callable[[Any], object]) -> Any:
    """`tensor` of each tensor in a value, `other` of a list of Python values."""
    if isinstance(value, Tensor):
        return tensor(value)
    if isinstance(value, dict):
        return {key: mapped(each, tensor, other) for key, each in value.items()}
    if isinstance(value, list):
        return [mapped(each, tensor, other) for each in value] if isinstance(value[0], Tensor) else other(value)
    return value


def assert_same(found: object, expected: object) -> None:
    if isinstance(expected, Tensor):
        assert isinstance(found, Tensor) and found.dtype == expected.dtype and found.device == expected.device
        assert found.shape == expected.shape and (found.is_meta or found.equal(expected))
    elif isinstance(expected, dict):
        assert isinstance(found, dict) and found.keys() == expected.keys()
        for key, value in expected.items():
            assert_same(found[key], value)
    elif isinstance(expected, list) and expected and isinstance(expected[0], Tensor):
        assert isinstance(found, list)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    else:
        assert found is expected or found == expected


@settings(max_examples=15, deadline=None, derandomize=True)
@given(kinds)
def test_every_field_follows_an_operation_as_its_annotation_says(given: list[Kind]) -> None:
    cls, fields = declared(given)
    values: Values = {name: kind.make() for name, kind in fields.items()}
    made = cls(**values, batch_size=SIZE)
    expected = {name: plain(fields[name], value) for name, value in values.items()}

    def check(result: Any, tensor: Callable[[Tensor], object], items: Callable[[Any], object] = lambda x: x) -> None:
        for name, kind in fields.items():
            value = mapped(expected[name], tensor, items) if kind.is_carried else expected[name]
            assert_same(read(getattr(result, name)), value)

    def moved(result: Any) -> None:
        for name in fields:
            assert_same(read(getattr(result, name)), mapped(expected[name], lambda x: x.to("meta"), lambda x: x))

    check(made, lambda x: x)
    check(made[1:], lambda x: x[1:], lambda x: x[1:])
    check(made[torch.tensor([2, 0])], lambda x: x[[2, 0]], lambda x: [x[2], x[0]])
    check(cls.stack([made, made]), lambda x: torch.stack([x, x]), lambda x: [x, x])
    check(cls.cat([made, made]), lambda x: torch.cat([x, x]), lambda x: [*x, *x])
    check(made.reshape(SIZE, 1), lambda x: x.reshape(SIZE, 1, *x.shape[1:]), lambda x: [[one] for one in x])
    check(made.clone(), lambda x: x)
    moved(made.to("meta"))
    same = made == cls(**values, batch_size=SIZE)
    assert bool(same.all())
