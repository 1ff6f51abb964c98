"""`while_loop` takes tensors only; a tree carries objects through it, as the documentation shows for `cond`."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch._higher_order_ops import while_loop
from torch.utils._pytree import tree_flatten, tree_unflatten

from tests.tensorclass.declared import Flat, flat


def doubled_until_large(value: Flat) -> Flat:
    tensors, structure = tree_flatten(value)

    def is_small(*found: Tensor) -> Tensor:
        small: Tensor = tree_unflatten(found, structure).x.sum() < 1000
        return small

    def double(*found: Tensor) -> tuple[Tensor, ...]:
        return tuple(tree_flatten(tree_unflatten(found, structure) * 2)[0])

    loop: Any = while_loop
    result: Flat = tree_unflatten(loop(is_small, double, tuple(tensors)), structure)
    return result


def test_objects_go_through_a_loop_as_trees() -> None:
    value = flat(4)
    got = doubled_until_large(value)
    assert got.batch_size == (4,) and got.x.sum() >= 1000


def test_control_flow_refuses_objects_themselves() -> None:
    value: Any = flat(4)
    with pytest.raises(Exception, match="tensor leaves"):
        torch.cond(value.x.sum() > 0, lambda one: one * 2, lambda one: one + 1, (value,))


class Doubled(torch.autograd.Function):
    """A function with a gradient of its own."""

    @staticmethod
    def forward(ctx: Any, tensor: Tensor) -> Tensor:
        return tensor * 2

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return gradients[0] * 20


def test_an_autograd_function_is_applied_to_each_tensor() -> None:
    value = flat(4).requires_grad_()
    doubled: Any = Doubled.apply
    torch.autograd.backward([value.apply(doubled).x.sum()])
    assert value.x.grad is not None and (value.x.grad == 20).all()
