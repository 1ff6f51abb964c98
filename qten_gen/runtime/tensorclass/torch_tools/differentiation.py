"""`torch.autograd.grad`, `torch.autograd.backward` and activation checkpoints with objects among their arguments.

An object stands for its tensors that require a gradient, in their order. So functions of objects are differentiated as
functions of their tensors are.

`torch.utils.checkpoint.checkpoint` passes objects on as any value. While a graph is traced, torch takes the call for an operator,
whose arguments have to be tensors, and asks the objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

import torch
from torch import Tensor

from ..core.contents import leaf_pairs
from ..core.stored import Stored

if TYPE_CHECKING:
    _Given: TypeAlias = "Tensor | Stored"


def grad(
    outputs: _Given | Sequence[_Given],
    inputs: _Given | Sequence[_Given],
    grad_outputs: _Given | Sequence[_Given | None] | None = None,
    **options: object,
) -> tuple[_Given | None, ...]:
    """The gradients of `outputs` with respect to `inputs`, one for each: for an object an object, for a tensor a tensor.

    In an object, a tensor without gradient, because it does not require one or does not count, gives zeros.

        (gradient,) = torch.autograd.grad(loss, batch)

    Raises:
        RuntimeError: no input requires a gradient; or one does not count, and `allow_unused` does not say that this is fine.
        ValueError: an object in `grad_outputs` is not like its output.
    """
    arguments = _several(inputs)
    wanted = [leaf for each in arguments for leaf in _differentiable(each)]
    tensors, weights = _outputs("grad", outputs, grad_outputs)
    if not wanted:
        raise RuntimeError("grad: no tensor of the inputs requires a gradient; call requires_grad_() on them first")
    differentiate = cast("Callable[..., tuple[Tensor | None, ...]]", torch.autograd.grad)
    found = iter(differentiate(tensors, wanted, weights, **options))
    return tuple(_gradient(each, found) for each in arguments)


def backward(
    tensors: _Given | Sequence[_Given],
    grad_tensors: _Given | Sequence[_Given | None] | None = None,
    *,
    inputs: _Given | Sequence[_Given] | None = None,
    **options: object,
) -> None:
    """Accumulate the gradients of `tensors` in the leaves that they were computed from, or in `inputs` alone.

    Raises:
        ValueError: an object in `grad_tensors` is not like its output.
    """
    outputs, weights = _outputs("backward", tensors, grad_tensors)
    wanted = None if inputs is None else [leaf for each in _several(inputs) for leaf in _differentiable(each)]
    accumulate = cast("Callable[..., None]", torch.autograd.backward)
    accumulate(outputs, weights, inputs=wanted, **options)


def _several(value: _Given | Sequence[_Given]) -> Sequence[_Given]:
    return [value] if isinstance(value, (Tensor, Stored)) else value


def _differentiable(value: _Given) -> list[Tensor]:
    """A tensor, or those tensors of an object that require a gradient."""
    return [leaf for leaf in value._leaves() if leaf.requires_grad] if isinstance(value, Stored) else [value]


def _outputs(
    action: str, outputs: _Given | Sequence[_Given], weights: _Given | Sequence[_Given | None] | None
) -> tuple[list[Tensor], list[Tensor | None] | None]:
    """The tensors to differentiate, and what each is weighted with."""
    arguments = _several(outputs)
    tensors = [leaf for each in arguments for leaf in _differentiable(each)]
    if weights is None:
        return tensors, None
    beside = _several(cast("_Given | Sequence[_Given]", weights))
    if len(beside) != len(arguments):
        raise ValueError(f"{action}: expected one gradient for each of {len(arguments)} outputs, got {len(beside)}")
    return tensors, [
        leaf for each, weight in zip(arguments, beside, strict=True) for leaf in _weights(action, each, weight)
    ]


def _weights(action: str, output: _Given, weight: _Given | None) -> list[Tensor | None]:
    """The weights of the tensors of one output: an object like it has them, or each is None."""
    if not isinstance(output, Stored) or weight is None:
        return [cast("Tensor | None", weight)] * len(_differentiable(output))
    leaves = output._leaves()
    if not isinstance(weight, Stored) or type(weight) is not type(output) or len(weight._leaves()) != len(leaves):
        kind = type(output).__name__
        raise ValueError(
            f"{action}: expected the gradient of a {kind} to be one like it, got a {type(weight).__name__}"
        )
    return [other for leaf, other in leaf_pairs(output, weight) if leaf.requires_grad]


def _gradient(value: _Given, found: Iterator[Tensor | None]) -> _Given | None:
    """The gradient of an input, from the gradients of all tensors in order."""
    if not isinstance(value, Stored):
        return next(found)

    def of(leaf: Tensor) -> Tensor:
        gradient = next(found) if leaf.requires_grad else None
        return torch.zeros_like(leaf) if gradient is None else gradient

    return value._map(of)


def torch_functions() -> dict[Callable[..., object], Callable[..., object]]:
    """The functions to call in place of functions of torch, where one of the arguments is an object."""
    return {torch.autograd.grad: grad, torch.autograd.backward: backward}


CHECKPOINT_OPERATOR = (
    "torch.ops.higher_order.tag_activation_checkpoint",
    "torch._higher_order_ops.wrap.tag_activation_checkpoint",
)
"""The operator's name, and since torch 2.14. A dictionary does not find the operator itself while a graph is traced."""

_OF_CHECKPOINT = frozenset(
    {"use_reentrant", "context_fn", "determinism_check", "debug", "early_stop", "preserve_rng_state"}
)
"""Keywords that are not for the function that is called."""


def checkpoint(function: Callable[..., object], *args: object, **options: object) -> object:
    """The result of the function, whose intermediate tensors are computed again in the backward pass.

    The function gets the objects themselves, not copies made of their tensors. So torch refuses a function that writes to them,
    whose second run would see what the first has written.
    """
    from torch.utils.checkpoint import checkpoint as of_torch

    given = {name: value for name, value in options.items() if name not in _OF_CHECKPOINT}
    settings = {name: value for name, value in options.items() if name in _OF_CHECKPOINT}

    def run() -> object:
        return function(*args, **given)

    untyped: Callable[..., object] = of_torch
    return untyped(run, **settings)


REGION_OPERATOR = ("torch.ops.higher_order.invoke_subgraph", "torch._higher_order_ops.invoke_subgraph.invoke_subgraph")
"""What a function calls, while a graph is traced, that is marked with `torch.compiler.nested_compile_region`."""


def region(function: Callable[..., object], *args: object, **options: object) -> object:
    """The result of the function, which is traced like any other, and not compiled once for all its calls."""
    return function(*args, **options)
