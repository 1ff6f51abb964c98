"""Tensors whose dtypes no cast of a declared module changes: the ones declared with `keep_dtype=True`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from functools import wraps
from inspect import unwrap

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from .module_base import ModuleBase


def kept_names(root: nn.Module) -> list[str]:
    """See `Module.kept_names`."""
    found: list[str] = []
    for path, module in root.named_modules():
        names = (f"{path}.{name}".lstrip(".") for name, _ in _kept(module))
        found += [name for name in names if not name.startswith(tuple(f"{outer}." for outer in found))]
    return found


def kept_tensors(module: nn.Module) -> Iterator[tuple[str, Tensor]]:
    """The tensors that the class of a module keeps, with their names in the module, kept children's included."""
    for name, held in _kept(module):
        if isinstance(held, Tensor):
            yield name, held
        else:
            for path, tensor in (*held.named_parameters(), *held.named_buffers()):
                yield f"{name}.{path}", tensor


def keeping_dtypes(module: nn.Module, fn: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """A function that moves or casts the tensors of a module, changed so that the kept ones move and keep their dtypes."""
    tensors = [tensor for _, tensor in kept_tensors(module)]
    # nn.Module calls the function for gradients too.
    gradients = [tensor.grad for tensor in tensors if tensor.grad is not None]
    kept = {id(tensor): tensor for tensor in (*tensors, *gradients)}

    @wraps(unwrap(fn))  # by the function behind it, the one of `to_empty` is recognised in modules below too
    def change(tensor: Tensor) -> Tensor:
        changed = fn(tensor)
        if id(tensor) not in kept or changed.dtype == tensor.dtype:
            return changed
        # Only the dtype would change. Strides do with `memory_format=`.
        if changed.device == tensor.device and changed.stride() == tensor.stride():
            return tensor
        return torch.empty_like(changed, dtype=tensor.dtype).copy_(tensor)

    return change


def cast_assigned(module: nn.Module, state_dict: MutableMapping[str, Tensor], prefix: str) -> None:
    """Give the tensors of a state dict the kept dtypes of a module, before they take the place of its own."""
    for name, tensor in kept_tensors(module):
        given = state_dict.get(f"{prefix}{name}")
        if isinstance(given, Tensor) and given.dtype != tensor.dtype:
            changed = given.detach().to(tensor.dtype)
            is_parameter = isinstance(given, nn.Parameter)
            state_dict[f"{prefix}{name}"] = nn.Parameter(changed, given.requires_grad) if is_parameter else changed


_PARTS = ("_orig", "_mask", "_g", "_v", "_u")
"""The endings of what `torch.nn.utils.prune`, `weight_norm` and `spectral_norm` register in the place of a tensor."""


def _kept(module: nn.Module) -> Iterator[tuple[str, Tensor | nn.Module]]:
    """The tensors and children of a module that its class keeps; a parametrized tensor is the module that computes it."""
    if not isinstance(module, ModuleBase):
        return
    is_parametrized = bool(type(module)._kept) and parametrize.is_parametrized(module)
    registries = (module._parameters, module._buffers, module._modules)
    for name in type(module)._kept:
        is_hooked = name in vars(module)  # computed before each call, by pruning or the older normalisations
        for each in (f"{name}{part}" for part in _PARTS) if is_hooked else (name,):
            yield from ((each, registry[each]) for registry in registries if registry.get(each) is not None)
        if is_parametrized and name in module._modules["parametrizations"]:
            path = f"parametrizations.{name}"
            yield path, module.get_submodule(path)
