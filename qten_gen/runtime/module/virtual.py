"""Virtual tensors: attributes of a Module that are computed when they are read.

The function gets the dtype and device of one tensor of the module: its first parameter without a dtype of its own, else such a
buffer, else an empty buffer registered for the purpose. So a virtual tensor follows `.to()` without being in the state dict.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ..declaring.fields import Virtual

if TYPE_CHECKING:
    from .module import Module


def virtual(module: Module, owner: type[Module], name: str) -> Tensor:
    """Compute the virtual tensor that `owner` declares as `name`.

    Raises:
        RuntimeError: the function raised AttributeError. As it is, that would be taken for a missing attribute.
        TypeError: the function returned something other than a tensor.
    """
    dtype, device = dtype_device_source(module)
    return compute(module, owner, name, dtype, device)


def dtype_device_source(module: Module) -> tuple[torch.dtype, torch.device]:
    """The dtype and device that a module's virtual tensors follow.

    A class with its own `__init__` declares no tensor to take them from: there it is the first floating tensor in the module or
    its children. So it is where a parametrization computes that tensor: reading it would compute it once more than the author's
    code does.
    """
    name = type(module)._anchor  # of the class: read from the module, compiled code would guard each instance
    if name is not None:
        for home in (module._parameters, module._buffers, module.__dict__):
            tensor = home.get(name)
            if tensor is not None:
                return tensor.dtype, tensor.device
    for tensor in chain(module.parameters(), module.buffers()):
        if tensor.is_floating_point():
            return tensor.dtype, tensor.device
    return torch.get_default_dtype(), torch.get_default_device()


def compute(module: Module, owner: type[Module], name: str, dtype: torch.dtype, device: torch.device) -> Tensor:
    """What the function of a virtual tensor gives, brought to a dtype and device; see `virtual` for the errors."""
    specifier = owner._specifiers[name]
    assert isinstance(specifier, Virtual)
    try:
        value = specifier.function(module, dtype, device)
    except AttributeError as error:
        raise RuntimeError(f"{type(module).__name__}.{name} could not be computed: {error}") from error
    if not isinstance(value, Tensor):
        raise TypeError(f"{type(module).__name__}.{name}: expected a tensor, got {type(value).__name__}")
    if value.dtype != dtype or value.device != device:
        value = value.to(device=device, dtype=dtype)
    return value
