"""Hooks of modules that take and return batches see what they see of modules that take and return dicts."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Module, TensorClass, param


class Pair(TensorClass):
    x: Tensor
    y: Tensor


class Scale(Module):
    dim: int
    returns: str
    weight: nn.Parameter = param("dim", initializer=nn.init.ones_)

    def forward(self, value: Any, factor: float = 1.0) -> Any:
        x = (value["x"] if isinstance(value, dict) else value.x) * self.weight * factor
        if self.returns == "tensor":
            return x
        made = {**value, "x": x} if isinstance(value, dict) else value.replace(x=x)
        return made if self.returns == "batch" else (x, made)


class Handled(Scale):
    """The same by handlers, so that the fast call runs without hooks."""


@Handled.register(Pair | dict)
def _(module: Handled, value: Pair | dict[str, Tensor], factor: float = 1.0) -> Any:
    return Scale.forward(module, value, factor)


def shown(values: object) -> object:
    """What a hook was given, with batches and dicts alike, and tensors by their numbers."""
    if isinstance(values, tuple):
        return tuple(map(shown, values))
    if isinstance(values, (dict, Pair)):
        found = values if isinstance(values, dict) else {"x": values.x, "y": values.y}
        return {name: shown(part) for name, part in found.items()}
    return values.tolist() if isinstance(values, Tensor) else values


def seen(cls: type[Scale], returns: str, as_batch: bool, register: Callable[[Any, Callable[..., None]], object]) -> Any:
    """What the hooks of a module see in a forward and a backward pass, the warnings, and the gradients."""
    calls: list[object] = []
    module = cls(3, returns)
    register(module, lambda *arguments: calls.append(shown(arguments[1:])))
    x, y = torch.ones(2, 3, requires_grad=True), torch.ones(2, requires_grad=True)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        out = module(Pair(x, y, batch_size=2) if as_batch else {"x": x, "y": y}, factor=2.0)
        first = out[0] if isinstance(out, tuple) else out
        (first if isinstance(first, Tensor) else first.x if as_batch else first["x"]).sum().backward()
    messages = [str(one.message).partition("received")[0] for one in said]
    assert x.grad is not None and module.weight.grad is not None
    return calls, messages, x.grad.tolist(), module.weight.grad.tolist()


HOOKS: dict[str, Callable[[Any, Callable[..., None]], object]] = {
    "forward pre": lambda module, hook: module.register_forward_pre_hook(hook),
    "forward pre with keywords": lambda module, hook: module.register_forward_pre_hook(hook, with_kwargs=True),
    "forward": lambda module, hook: module.register_forward_hook(hook),
    "forward with keywords": lambda module, hook: module.register_forward_hook(hook, with_kwargs=True),
    "forward always": lambda module, hook: module.register_forward_hook(hook, always_call=True, prepend=True),
    "full backward": lambda module, hook: module.register_full_backward_hook(hook),
    "full backward pre": lambda module, hook: module.register_full_backward_pre_hook(hook),
}


@pytest.mark.parametrize("cls", [Scale, Handled])
@pytest.mark.parametrize("returns", ["tensor", "batch", "both"])
@pytest.mark.parametrize("hook", HOOKS)
def test_a_hook_sees_of_batches_what_it_sees_of_dicts(hook: str, returns: str, cls: type[Scale]) -> None:
    of_batch = seen(cls, returns, True, HOOKS[hook])
    assert of_batch == seen(cls, returns, False, HOOKS[hook])
    assert of_batch[0] or (returns == "batch" and "backward" in hook)


@pytest.mark.parametrize("cls", [Scale, Handled])
def test_a_hook_can_replace_the_batch_that_goes_in_and_comes_out(cls: type[Scale]) -> None:
    module: Any = cls(3, "batch")
    module.register_forward_pre_hook(lambda module, args, keywords: ((args[0] + 1,), keywords), with_kwargs=True)
    module.register_forward_hook(lambda module, args, out: out.replace(y=args[0].y))
    out = module(Pair(torch.zeros(2, 3), torch.zeros(2), batch_size=2), factor=2.0)
    assert out.x.eq(2).all() and out.y.eq(1).all()
