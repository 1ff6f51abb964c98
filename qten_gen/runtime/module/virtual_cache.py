"""The cache of `@virtual(cached=True, sources=("size",))`: values that are kept while their sources are what they were.

A module keeps them in its instance dict, each with its sources and the state of torch that it was computed in. A read compares
these with what is there now, so nothing has to announce a change. Plain values are compared by identity, and only those that
cannot change in place count. Version counters cannot prove that a tensor is unchanged: fused optimizers, collectives, NumPy and
`.data` write without counting. So a value with a tensor among its sources is kept only under `cached="may_be_stale"`.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from types import BuiltinFunctionType, FunctionType, NoneType
from typing import Any, NamedTuple

import torch
from torch import Tensor, get_default_dtype, is_grad_enabled
from torch._C import _is_any_autocast_enabled, _is_tracing, _len_torch_dispatch_stack
from torch._C._functorch import peek_interpreter_stack
from torch.compiler import is_dynamo_compiling
from torch.nn import Module, Parameter

from ..declaring.virtual_fields import Virtual
from .core.module_base import VIRTUAL_CACHE, ModuleBase
from .core.registered_properties import of_torch
from .virtual_tensors import compute, dtype_device_source, virtual

_CONSTANTS = (
    NoneType,
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    range,
    enum.Enum,
    type,
    FunctionType,
    BuiltinFunctionType,
)
_OF_TORCH = (torch.dtype, torch.device, torch.layout, torch.memory_format)
_SINGLE_STREAM = ("cpu", "meta", "mps")
"""Devices on which what was computed earlier is there for everything that follows."""

_is_capturing: Callable[[], bool] = torch.cuda.is_current_stream_capturing


class _Source(NamedTuple):
    """A source of a value as it was then."""

    home: str | None
    """`_parameters` or `_buffers`; None for the instance dict."""
    name: str
    value: Any
    seen: tuple[object, ...] | None
    """`_counted` of a tensor; None for anything else."""


class _Kept(NamedTuple):
    """A value, with all that a later read compares."""

    value: Tensor
    version: int
    state: tuple[object, ...]
    stream: int | None
    """The stream of a GPU that the value was computed on. What another one computed may not be there yet."""
    with_gradients: bool
    """A value that was computed with gradients enabled and has none is right without them too, but not the other way round."""
    sources: tuple[_Source, ...]


def cached_virtual(module: ModuleBase, owner: type[ModuleBase], name: str) -> Tensor:
    """`virtual`, kept while the sources that the declaration names, the dtype, the device and the training mode stay.

    Nothing is kept or read while a graph is traced, under autocast, or under a dispatch mode. Nothing is kept in inference mode,
    under a functorch transform, while a CUDA graph is captured, or where the value takes part in autograd.

    Returns:
        A tensor as `virtual` returns it. Two reads may give the same object: do not change it in place.

    Raises:
        RuntimeError: the method raised AttributeError, which Python would take for a missing attribute.
        TypeError: the method returned something other than a tensor.
    """
    # First of all: what compiled code looks up on the way is a guard.
    if is_dynamo_compiling() or Module.__getattr__ is not of_torch:
        return virtual(module, owner, name)
    if _is_any_autocast_enabled() or _len_torch_dispatch_stack() or _is_tracing():
        return virtual(module, owner, name)
    attributes: dict[str, Any] = module.__dict__
    dtype, device = dtype_device_source(module)
    state = owner, dtype, device, attributes.get("training"), get_default_dtype()
    if VIRTUAL_CACHE in attributes and name in attributes[VIRTUAL_CACHE]:
        value, version, known, stream, with_gradients, sources = attributes[VIRTUAL_CACHE][name]
        if (
            known == state
            # A reader may have changed the value itself.
            and value._version == version
            and not value.requires_grad
            and (with_gradients or not is_grad_enabled())
            and (stream is None or (not _is_capturing() and stream == _stream(device)))
        ):
            for home, key, source, seen in sources:
                found = (attributes if home is None else attributes[home]).get(key, _ABSENT)
                if found is not source or (seen is not None and _counted(found) != seen):
                    break
            else:
                return value  # type: ignore[no-any-return] # a tensor, of a dict that holds anything
    return _computed(module, owner, name, state)


def _computed(
    module: ModuleBase,
    owner: type[ModuleBase],
    name: str,
    state: tuple[Any, torch.dtype, torch.device, bool | None, torch.dtype],
) -> Tensor:
    """Compute a value, and keep it where each change of a source will be noticed."""
    _, dtype, device, *_ = state
    specifier = owner._specifiers[name]
    assert isinstance(specifier, Virtual)
    sources = _sources(module.__dict__, specifier) if _may_keep(device) else None
    value = compute(module, owner, name, dtype, device)
    if sources is not None and type(value) is Tensor and not value.requires_grad and not value.is_inference():
        kept = _Kept(value, value._version, state, _stream(device), is_grad_enabled(), sources)
        module.__dict__.setdefault(VIRTUAL_CACHE, {})[name] = kept
    return value


def _may_keep(device: torch.device) -> bool:
    """Whether what is computed now is right for later reads, as far as transforms and the device say."""
    return peek_interpreter_stack() is None and (
        device.type in _SINGLE_STREAM or (device.type == "cuda" and not _is_capturing())
    )


def _sources(attributes: dict[str, Any], specifier: Virtual[object]) -> tuple[_Source, ...] | None:
    """The sources that a declaration names, as they are now; None where one of them can change unnoticed."""
    if specifier.sources is None:
        return None
    found = [_source(attributes, name) for name in specifier.sources]
    trusts_counters = specifier.cached == "may_be_stale"
    kept = all(trusts_counters if source.seen is not None else _is_constant(source.value) for source in found)
    return tuple(found) if kept else None


def _source(attributes: dict[str, Any], name: str) -> _Source:
    homes = (home for home in ("_parameters", "_buffers") if name not in attributes and name in attributes[home])
    home = next(homes, None)
    value = (attributes if home is None else attributes[home]).get(name, _ABSENT)
    is_plain = type(value) in (Tensor, Parameter) and value.layout is torch.strided and not value.is_inference()
    return _Source(home, name, value, _counted(value) if is_plain else None)


def _counted(tensor: Tensor) -> tuple[object, ...]:
    """A mark that stays while a tensor has the same elements, as long as everybody who changes them counts."""
    return tensor._version, tensor.data_ptr(), tensor.requires_grad


_ABSENT: list[object] = []
"""A source that is not there: of a list, nothing is kept."""


def _is_constant(value: object) -> bool:
    """Whether an object that stays where it is cannot change: numbers, strings, and tuples and frozen dataclasses of them."""
    if isinstance(value, tuple | frozenset):
        return all(map(_is_constant, value))
    if is_dataclass(value) and not isinstance(value, type):
        parameters: object = getattr(type(value), "__dataclass_params__", None)
        return getattr(parameters, "frozen", False) and all(_is_constant(getattr(value, f.name)) for f in fields(value))
    return isinstance(value, _CONSTANTS + _OF_TORCH)


def _stream(device: torch.device) -> int | None:
    return torch._C._cuda_getCurrentRawStream(device.index) if device.type == "cuda" else None
