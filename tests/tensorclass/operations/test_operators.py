"""Operators: what Python does to each tensor."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
import torch

from ..declared import assert_applied, batch, flat, point

ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow]
COMPARISON = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]

Binary = Callable[[Any, Any], Any]


@pytest.mark.parametrize("function", [*ARITHMETIC, *COMPARISON])
def test_numbers_of_numpy_are_numbers(function: Binary) -> None:
    value, number = flat(4), np.float32(2)
    assert_applied(function(value, number), value, lambda tensor: function(tensor, 2.0))
    assert_applied(function(number, value), value, lambda tensor: function(2.0, tensor))


def test_a_bool_of_numpy_is_a_number() -> None:
    value = flat(4)
    found = value == cast(Any, np.bool_(True))
    assert torch.equal(found.x, value.x == 1) and torch.equal(found.y, value.y == 1)
    assert torch.equal((value + cast(Any, np.bool_(True))).y, value.y + 1)


@pytest.mark.parametrize("function", [*ARITHMETIC, *COMPARISON])
@pytest.mark.parametrize("array", [np.ones(4), np.array(1.0)])
def test_an_array_is_refused_and_never_compared_as_another_kind_of_object(function: Binary, array: object) -> None:
    for left, right in ((flat(4), array), (array, flat(4))):
        with pytest.raises(TypeError, match="expected Flat, a Tensor or a number, got ndarray; torch.from_numpy makes"):
            function(left, right)


def test_a_tensor_that_does_not_fit_the_batch_size_is_refused() -> None:
    for shape in [(2,), (1, 2, 3), (4,)]:
        with pytest.raises(ValueError, match=r"a Tensor broadcasts over the batch size \[2, 3\] only"):
            flat(2, 3) + torch.zeros(shape)
        with pytest.raises(ValueError, match=r"a Tensor broadcasts over the batch size \[2, 3\] only"):
            torch.zeros(shape) + flat(2, 3)


def test_a_field_that_is_none_in_one_object_only_is_refused() -> None:
    with pytest.raises(TypeError, match=r"Batch\.other: expected a value in every object or in none, 1 of 2 are None"):
        batch(4) == batch(4).replace(other=None)  # noqa: B015 # it is the comparison that raises


def test_objects_of_different_classes_are_refused() -> None:
    left, right = flat(4), point(4)
    with pytest.raises(TypeError, match="unsupported operand"):
        left + right  # type: ignore[operator]
    with pytest.raises(TypeError, match="not supported"):
        left < right  # type: ignore[operator] # noqa: B015 # it is the comparison that raises


def test_comparison_with_something_else_is_plain() -> None:
    assert (flat(4) == "text") is False
    assert (flat(4) != None) is True  # noqa: E711 # the comparison itself is meant


def test_an_object_has_no_truth_value_and_no_hash() -> None:
    with pytest.raises(TypeError, match="the truth value of a Flat is ambiguous"):
        bool(flat(4) == flat(4))
    with pytest.raises(TypeError, match="unhashable type: 'Flat'"):
        hash(flat(4))


def test_objects_of_different_batch_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"expected two Flat of one batch size, got \[4\] and \[3\]"):
        flat(4) + flat(3)


def test_the_field_whose_shapes_do_not_fit_is_named() -> None:
    with pytest.raises(RuntimeError, match=r"^add: Flat\.x: The size of tensor a \(3\) must match"):
        flat(2) + flat(2).replace(x=torch.rand(2, 4))
