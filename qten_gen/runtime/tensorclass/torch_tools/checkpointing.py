"""`torch.utils.checkpoint.checkpoint` with objects among its arguments, in a graph that is traced.

A run passes objects on as any value. While a graph is traced, torch takes the call for an operator, whose arguments have to be
tensors, and asks the objects.
"""

from __future__ import annotations

from collections.abc import Callable

OPERATOR = (
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
