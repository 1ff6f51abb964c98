"""Devices, dtypes, copies and gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from ..declared import Batch, assert_applied, batch, flat, tensors


def dtypes(value: Batch) -> dict[str, torch.dtype]:
    return {path: tensor.dtype for path, tensor in tensors(value).items()}


FITTING: dict[str, Callable[[Batch], Batch]] = {
    "to(device)": lambda value: value.to("cpu"),
    "to(device, non_blocking)": lambda value: value.to(torch.device("cpu"), non_blocking=True),
    "to(dtype)": lambda value: value.to(torch.float32),
    "to(other)": lambda value: value.to(flat(2)),
    "to()": lambda value: value.to(),
    "cpu()": lambda value: value.cpu(),
    "float()": lambda value: value.float(),
}
"""Operations on an object of three batch dimensions, which need change nothing."""


@pytest.mark.parametrize("operation", FITTING.values(), ids=FITTING.keys())
def test_an_operation_that_changes_nothing_gives_a_new_object_that_is_not_locked(
    operation: Callable[[Batch], Batch],
) -> None:
    value = batch(4, 2, 3).to("cpu").lock_()
    names = value.names
    tokens = value.tokens
    out = operation(value)
    out.tokens = tokens + 1
    assert torch.equal(value.tokens, tokens) and value.is_locked
    assert out.names == names and out.batch_size == value.batch_size and out.point is not value.point


def test_a_fitting_tensor_is_shared_unless_it_is_to_be_copied() -> None:
    value = batch(4)
    assert value.to(torch.float32).tokens is value.tokens
    copied = value.to(torch.float32, copy=True)
    assert_applied(copied, value, torch.clone)
    assert not {tensor.data_ptr() for tensor in tensors(copied).values()} & {
        tensor.data_ptr() for tensor in tensors(value).values()
    }


def test_to_a_device_from_none_is_a_new_object_with_the_same_tensors() -> None:
    value = batch(4)
    moved = value.to("cpu")
    assert (value.device, moved.device) == (None, torch.device("cpu"))
    assert moved.tokens is value.tokens


@pytest.mark.parametrize(
    ("args", "named"),
    [
        ((torch.float64,), {}),
        ((torch.float64, True), {}),
        ((None, torch.float64), {}),
        (("cpu", torch.float64, True), {}),
        ((), {"dtype": torch.float64}),
        ((), {"device": "cpu", "dtype": torch.float64, "non_blocking": True}),
        ((torch.zeros(1, dtype=torch.float64),), {}),
        ((), {"other": torch.zeros(1, dtype=torch.float64)}),
    ],
)
def test_a_dtype_is_that_of_the_floating_point_tensors(args: tuple[Any, ...], named: dict[str, Any]) -> None:
    value = batch(4)
    expected = {path: torch.float64 if dtype.is_floating_point else dtype for path, dtype in dtypes(value).items()}
    assert dtypes(value.to(*args, **named)) == expected
    assert torch.bool in expected.values() and torch.int64 in expected.values()


def test_complex_tensors_are_cast_to_complex_dtypes_only() -> None:
    value = flat(4).replace(x=torch.zeros(4, dtype=torch.complex64))
    assert value.to(torch.float64).x.dtype == torch.complex64
    assert value.to(torch.complex128).x.dtype == torch.complex128
    assert value.to(torch.complex128).y.dtype == torch.complex128


def test_an_integer_dtype_is_refused() -> None:
    with pytest.raises(
        TypeError, match=r"Batch\.to: expected a floating point or complex dtype, got torch\.int32; .*apply"
    ):
        batch(4).to(torch.int32)


def test_to_another_object_takes_its_device() -> None:
    assert batch(4).to(flat(2).to("meta")).device == torch.device("meta")


def test_to_refuses_unknown_arguments() -> None:
    value: Any = flat(4)
    with pytest.raises(TypeError, match="unexpected keyword argument 'devise'"):
        value.to(devise="cpu")
    with pytest.raises(TypeError, match="expected a device such as 'cpu' or 'cuda:0', got 1.5"):
        value.to(1.5)


def test_gradients_flow_through_operations() -> None:
    value = flat(4).requires_grad_()
    (gradient,) = torch.autograd.grad((value[1:] * 2).reshape(3, 1).y.sum(), [value.y])
    assert gradient.tolist() == [0, 2, 2, 2]


def test_apply_refuses_other_objects_that_do_not_fit() -> None:
    wrong: Any = flat(4)
    with pytest.raises(TypeError, match="^Batch.apply: expected Batch, got a Flat$"):
        batch(4).apply(torch.add, wrong)
    with pytest.raises(ValueError, match=r"^expected two Batch of one batch size, got \[4\] and \[5\]$"):
        batch(4).apply(torch.add, batch(5))


def test_named_apply_takes_the_tensors_of_other_objects_too() -> None:
    value, other = flat(4), flat(4) * 3
    told = value.named_apply(lambda name, one, two: two if name == "x" else one, other)
    assert torch.equal(told.x, other.x)


def test_apply_can_change_the_batch_size_and_the_device() -> None:
    value = batch(4, 5)
    assert value.to("cpu").apply(torch.clone).device == torch.device("cpu")
    assert_applied(value.apply(lambda tensor: tensor[0], batch_size=5), value, lambda tensor: tensor[0], (5,))
    assert_applied(value.apply(lambda tensor: tensor[0, 0], batch_size=()), value, lambda tensor: tensor[0, 0], ())
    assert value.apply(lambda tensor: tensor.to("meta"), device="meta").device == torch.device("meta")


def test_apply_checks_the_results() -> None:
    wrong: Any = str
    with pytest.raises(TypeError, match=r"Batch\.tokens: expected a Tensor, got a str"):
        batch(4).apply(wrong)
    with pytest.raises(ValueError, match=r"Batch\.tokens: expected a shape that starts with \[4\], got \[2, 3\]"):
        batch(4).apply(lambda tensor: tensor[:2])
    nothing: Any = lambda tensor: None if tensor.dtype is torch.bool else tensor  # noqa: E731
    with pytest.raises(TypeError, match=r"Batch\.mask: expected a Tensor, got None"):
        batch(4).apply(nothing)

    def spoil(tensor: Tensor) -> Tensor:
        return tensor[:2] if tensor.shape == (4, 2) and tensor.is_floating_point() else tensor

    with pytest.raises(ValueError, match=r"Point\.position: expected a shape that starts with \[4\], got \[2, 2\]"):
        batch(4).apply(spoil)


def test_a_nested_object_keeps_its_own_device() -> None:
    value = batch(4)
    value.point = value.point.to("cpu")
    for result in (value[0], value.reshape(2, 2), value.clone(), value.split(2)[0], value == value):
        assert (result.device, result.point.device) == (None, torch.device("cpu"))
