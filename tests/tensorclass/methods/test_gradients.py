"""Gradients of objects, against those of their tensors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils._pytree import tree_leaves

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
    torch.nn.utils.clip_grad_norm_(tree_leaves(value), 1.0)
    assert value.grad is not None and value.grad.x.max() < 1


def test_the_gradient_of_a_part_is_refused() -> None:
    value = flat(4).requires_grad_()
    torch.autograd.backward([value.x.sum(), value.y.sum()])
    with (
        pytest.raises(RuntimeError, match=r"index the gradient instead: batch\.grad\[0\]; what optimizes"),
        warnings.catch_warnings(),
    ):
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
