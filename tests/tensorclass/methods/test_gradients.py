"""Gradients of objects, against those of their tensors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch

from ..declared import Flat, batch, flat


def test_the_gradient_of_an_object_without_gradients_is_none() -> None:
    assert flat(4).requires_grad_().grad is None
    assert batch(4).grad is None


def test_gradients_are_removed_or_set_to_zero() -> None:
    value = flat(4).requires_grad_()
    torch.autograd.backward([value.x.sum()])
    value.zero_grad(set_to_none=False)
    assert value.x.grad is not None
    assert value.x.grad.sum() == 0
    assert value.zero_grad() is value
    assert value.grad is None


def test_backward_goes_back_from_all_tensors() -> None:
    value = flat(4).requires_grad_()
    (value * 2).apply(torch.sum, batch_size=()).backward()
    assert value.grad is not None
    assert torch.equal(value.grad.x, torch.full((4, 3), 2.0))
    assert torch.equal(value.grad.y, torch.full((4,), 2.0))


def test_backward_leaves_out_what_requires_no_gradient() -> None:
    value = Flat(torch.zeros((), requires_grad=True), torch.zeros((), dtype=torch.int64))
    value.backward()
    assert value.x.grad is not None
    with pytest.raises(RuntimeError, match=r"^backward: no tensor of the Flat requires a gradient$"):
        flat(4).backward()
    with pytest.raises(TypeError, match="expected a value in every object or in none"):
        batch(4, full=False).requires_grad_().backward(batch(4))


def test_data_shares_the_tensors_without_their_history() -> None:
    value = flat(4).requires_grad_()
    data = value.data
    assert not data.requires_grad
    data.zero_()
    assert value.x.sum() == 0
    assert value.requires_grad


@pytest.mark.parametrize("given", [lambda value: value, lambda value: [value]], ids=["object", "list"])
def test_clipping_takes_the_tensors_and_refuses_an_object(given: Callable[[Flat], Any]) -> None:
    value = flat(4).requires_grad_()
    torch.autograd.backward([value.x.sum() * 20, value.y.sum()])
    with pytest.raises((TypeError, RuntimeError)), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.nn.utils.clip_grad_norm_(given(value), 1.0)
    torch.nn.utils.clip_grad_norm_(value.values(include_nested=True, leaves_only=True), 1.0)
    assert value.grad is not None and value.grad.x.max() < 1


def test_the_gradient_of_a_part_is_refused() -> None:
    value = flat(4).requires_grad_()
    torch.autograd.backward([value.x.sum(), value.y.sum()])
    with pytest.raises(RuntimeError, match=r"index the gradient instead: batch\.grad\[0\]$"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value[0].grad  # noqa: B018 # reading it is the test


def test_a_generator_of_the_users_own_reads_gradients_and_items() -> None:
    value = flat(4)
    assert [item.grad for item in value] == [None] * 4
    assert value.view(-1).grad is None


def test_an_item_of_an_object_without_gradients_has_none() -> None:
    value = flat(4).requires_grad_()
    with torch.no_grad():
        assert value[0].grad is None
