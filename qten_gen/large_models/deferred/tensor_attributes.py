"""The parts of a tensor in Python beside its values: attributes, hooks, gradients."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode

with FakeTensorMode():
    _OF_FAKE = frozenset(vars(torch.empty(0))) | {"_is_param", "real"}
"""The attributes that torch sets on every fake tensor."""


def own_attributes(fake: Tensor) -> dict[str, object]:
    """The attributes that the program set on a fake tensor."""
    return {name: value for name, value in vars(fake).items() if name not in _OF_FAKE}


def gradient_of(tensor: Tensor) -> Tensor | None:
    """The gradient that was accumulated in a tensor, or that was assigned."""
    with torch._C.DisableTorchFunction():
        return tensor.grad if tensor.is_leaf or tensor.retains_grad else None


def with_attributes_of(fake: Tensor, real: Tensor) -> Tensor:
    """A real tensor with what the program set on its fake: that it is a parameter, `requires_grad`, attributes and hooks.

    Returns:
        `real` itself, or a parameter that shares its memory.
    """
    if isinstance(fake, nn.Parameter) and not isinstance(real, nn.Parameter):
        real = torch.Tensor._make_subclass(nn.Parameter, real)
    if fake.is_leaf and not real.is_leaf:
        real = real.detach()  # autograd hands `detach_()` on to nobody
    if fake.is_leaf and real.is_leaf and real.requires_grad != fake.requires_grad:
        with torch.inference_mode(real.is_inference()):
            real.requires_grad_(fake.requires_grad)
    vars(real).update(own_attributes(fake))
    for hook in (fake._backward_hooks or {}).values():
        real.register_hook(hook)  # type: ignore[no-untyped-call] # of torch
    for hook in (getattr(fake, "_post_accumulate_grad_hooks", None) or {}).values():
        real.register_post_accumulate_grad_hook(hook)  # type: ignore[no-untyped-call] # of torch
    return real
