"""Virtual tensors: attributes of a Module that a method decorated with `virtual` computes when they are read.

The method gets the dtype and device of one tensor of the module: its first parameter without a dtype of its own, else such a
buffer, else an empty buffer registered for the purpose. So a virtual tensor follows `.to()` without being in the state dict. What
the method returns keeps its dtype: a mask stays boolean, and positions stay integers.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import cast

import torch
from torch import Tensor
from torch.fx import Proxy

from ...common.naming import REFERENCE
from ..declaring.derived import Virtual
from .module_base import ModuleBase


def virtual(module: ModuleBase, owner: type[ModuleBase], name: str) -> Tensor:
    """Compute the virtual tensor that `owner` declares as `name`.

    Returns:
        What the method returns, of any shape and dtype, on the device that `dtype_device_source` gives. With `cast=True`, a
        floating point result has the dtype that it gives too.

    Raises:
        RuntimeError: the method raised AttributeError, which Python would take for a missing attribute.
        TypeError: the method returned something other than a tensor.
    """
    dtype, device = dtype_device_source(module)
    return compute(module, owner, name, dtype, device)


def dtype_device_source(module: ModuleBase) -> tuple[torch.dtype, torch.device]:
    """The dtype and device that a module's virtual tensors follow.

    A class with its own `__init__` declares no tensor to take them from. There the first floating tensor in the module or its
    children gives them. The same holds where a parametrization computes the declared tensor: reading it would compute it once
    more than the author's code does. And where the empty buffer stayed on meta, because what is in no state dict is not loaded by
    `load_state_dict(assign=True)`.
    """
    # Of the class: read from the module, compiled code would guard each instance.
    name = type(module)._dtype_device_source
    if name is not None:
        tensor = module._parameters.get(name)
        if tensor is None:
            # In the instance dict stands a plain tensor that took its place, such as a replica's copy.
            tensor = module._buffers.get(name, module.__dict__.get(name))
        if tensor is not None and not (name == REFERENCE and tensor.is_meta):
            return tensor.dtype, tensor.device
    empty = None if name != REFERENCE else module._buffers.get(name)
    for tensor in chain(module.parameters(), module.buffers()):
        if tensor.is_floating_point() and tensor is not empty:
            return tensor.dtype, tensor.device
    if empty is not None:
        return empty.dtype, empty.device
    return torch.get_default_dtype(), torch.get_default_device()


def follow_assigned(module: ModuleBase, state_dict: Mapping[str, Tensor], prefix: str) -> None:
    """Let the empty buffers follow the first parameter that `load_state_dict(assign=True)` puts there, as they follow `.to()`.

    A module around this one has been loaded before, so that the nearest one counts.
    """
    given = (state_dict.get(prefix + name) for name, _ in module.named_parameters())
    nearest = next((each for each in given if isinstance(each, Tensor) and each.is_floating_point()), None)
    if nearest is None:
        return
    for each in module.modules():
        empty = each._buffers.get(REFERENCE) if isinstance(each, ModuleBase) else None
        if empty is not None and (empty.dtype, empty.device) != (nearest.dtype, nearest.device):
            each._buffers[REFERENCE] = torch.empty_like(empty, dtype=nearest.dtype, device=nearest.device)


def compute(module: ModuleBase, owner: type[ModuleBase], name: str, dtype: torch.dtype, device: torch.device) -> Tensor:
    """The result of a virtual tensor's function, brought to a device, and cast where that is declared; see `virtual`."""
    specifier = owner._specifiers[name]
    assert isinstance(specifier, Virtual)
    try:
        value = specifier.function(module, dtype, device)
    except AttributeError as error:
        raise RuntimeError(f"{type(module).__name__}.{name} could not be computed: {error}") from error
    if isinstance(
        value, Proxy
    ):  # of a parameter, while `torch.fx.symbolic_trace` runs; whoever runs the graph moves it
        return cast(Tensor, value.to(dtype=dtype) if specifier.cast else value)
    if not isinstance(value, Tensor):
        raise TypeError(f"{type(module).__name__}.{name}: expected a tensor, got {type(value).__name__}")
    # `cast` last: compiled code guards what is read.
    if value.dtype != dtype and value.is_floating_point() and specifier.cast:
        return value.to(device=device, dtype=dtype)
    return value if value.device == device else value.to(device=device)
