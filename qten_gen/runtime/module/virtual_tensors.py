"""Virtual tensors: attributes of a Module that a method decorated with `virtual` computes when they are read.

The method gets the dtype and device of one tensor of the module: its first parameter without a dtype of its own, else such a
buffer, else an empty buffer registered for the purpose. So a virtual tensor follows `.to()` without being in the state dict.
What the method returns keeps its dtype: a mask stays boolean, and positions stay integers.

A module keeps the values of `@virtual(cached=True)` in its instance dict, each with its sources and the state of torch that it
was computed in. Its sources are the attributes that the method reads, in methods of the class that it calls too. They are found
in the code that runs, so that an edit of a method cannot leave one out. A read compares them with what is there now, and
nothing has to announce a change. Values are compared by identity, and only those that cannot change in place count. No version
counter proves that a tensor is unchanged: fused optimizers, collectives, NumPy and `.data` write without counting. So nothing
derived from a tensor is kept.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from itertools import chain
from types import BuiltinFunctionType, FunctionType, NoneType
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, get_default_dtype
from torch._C import _is_any_autocast_enabled, _is_tracing, _len_torch_dispatch_stack
from torch._C._functorch import peek_interpreter_stack
from torch.compiler import is_dynamo_compiling
from torch.fx import Proxy
from torch.nn import Module

from ...common.naming import REFERENCE
from ...common.object_reads import attributes_read
from ..declaring.declared_class import DeclaredClass
from ..declaring.derived import Virtual
from .module_base import VIRTUAL_CACHE, ModuleBase, of_torch


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
    below: list[Any] = [module]
    for each in below:  # many modules, so without a call of `modules()` for each
        below += filter(None, each._modules.values())
    following = [each for each in below if REFERENCE in each._buffers]
    given = (state_dict.get(prefix + name) for name, _ in module.named_parameters()) if following else ()
    nearest = next((each for each in given if isinstance(each, Tensor) and each.is_floating_point()), None)
    if nearest is None:
        return
    for each in following:
        each._buffers[REFERENCE] = torch.empty(0, dtype=nearest.dtype, device=nearest.device)


def compute(module: ModuleBase, owner: type[ModuleBase], name: str, dtype: torch.dtype, device: torch.device) -> Tensor:
    """The result of a virtual tensor's function, brought to a device, and cast where that is declared; see `virtual`."""
    specifier = owner._specifiers[name]
    assert isinstance(specifier, Virtual)
    try:
        value = specifier.function(module, dtype, device)
    except AttributeError as error:
        raise RuntimeError(f"{type(module).__name__}.{name} could not be computed: {error}") from error
    if isinstance(value, Proxy):  # of `torch.fx.symbolic_trace`; whoever runs the graph moves it
        return cast(Tensor, value.to(dtype=dtype) if specifier.cast else value)
    if not isinstance(value, Tensor):
        raise TypeError(f"{type(module).__name__}.{name}: expected a tensor, got {type(value).__name__}")
    # `cast` last: compiled code guards what is read.
    if value.dtype != dtype and value.is_floating_point() and specifier.cast:
        return value.to(device=device, dtype=dtype)
    return value if value.device == device else value.to(device=device)


_CONSTANTS = (NoneType, int, float, complex, str, bytes, range, enum.Enum, type, FunctionType, BuiltinFunctionType)
_CONSTANTS_OF_TORCH = (torch.dtype, torch.device, torch.layout, torch.memory_format)
_SINGLE_STREAM = ("cpu", "meta", "mps")
"""Devices on which what was computed earlier is there for everything that follows."""

_is_capturing: Callable[[], bool] = torch.cuda.is_current_stream_capturing


class _CachedValue(NamedTuple):
    """A value, with all that a later read compares."""

    value: Tensor
    version: int
    state: tuple[object, ...]
    stream: int | None
    """The stream of a GPU that the value was computed on. What another one computed may not be there yet."""
    sources: tuple[tuple[str, object], ...]
    """The attributes of the module that it is derived from, as they were then."""


def cached_virtual(module: ModuleBase, owner: type[ModuleBase], name: str) -> Tensor:
    """`virtual`, kept while what the method reads, the dtype, the device and the training mode stay.

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
    # The owner too: `super().mask` is another value under the same name.
    state = owner, dtype, device, attributes.get("training"), get_default_dtype()
    if VIRTUAL_CACHE in attributes and name in attributes[VIRTUAL_CACHE]:
        value, version, known, stream, sources = attributes[VIRTUAL_CACHE][name]
        if (
            known == state
            # A reader may have changed the value itself.
            and value._version == version
            and not value.requires_grad
            # A captured graph would keep the address of a value that the cache may let go.
            and (stream is None or (not _is_capturing() and stream == _stream(device)))
        ):
            for key, source in sources:
                if attributes.get(key, _ABSENT) is not source:
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
    may_keep = device.type in _SINGLE_STREAM or (device.type == "cuda" and not _is_capturing())
    sources = _sources(module, owner, name) if may_keep and peek_interpreter_stack() is None else None
    value = compute(module, owner, name, dtype, device)
    if sources is not None and type(value) is Tensor and not value.requires_grad and not value.is_inference():
        kept = _CachedValue(value, value._version, state, _stream(device), sources)
        module.__dict__.setdefault(VIRTUAL_CACHE, {})[name] = kept
    return value


def _sources(module: ModuleBase, owner: type[ModuleBase], name: str) -> tuple[tuple[str, object], ...] | None:
    """What a method reads of its module, as it is now; None where something of that can change unnoticed.

    Methods and properties that it reads are followed, where a declared class has them.
    """
    attributes = module.__dict__
    found: dict[str, object] = {}
    functions = [_function(owner._specifiers[name])]
    for function in functions:
        if not isinstance(function, FunctionType):
            return None
        for read in attributes_read(function):
            if read in _COMPARED_ANYWAY:
                continue
            if read in attributes:
                found[read] = attributes[read]
                continue
            held, is_declared = _held(type(module), read)
            inner = _function(held)
            if is_declared and isinstance(inner, FunctionType):
                functions += [inner] if inner not in functions else []
            elif inner is not held or isinstance(held, FunctionType) or not _is_constant(held):
                return None
    return tuple(found.items()) if all(map(_is_constant, found.values())) else None


_COMPARED_ANYWAY = ("training", "dtype", "device")
"""Attributes that are part of the state of a cached value."""
_ABSENT: list[object] = []
"""An attribute that is not there."""


def _held(cls: type[ModuleBase], name: str) -> tuple[object, bool]:
    """What a class holds under a name, virtual tensors as declared, and whether a declared class does."""
    for base in cls.__mro__:
        specifier = vars(base).get("_specifiers", {}).get(name)
        if isinstance(specifier, Virtual):
            return specifier, True
        if name in vars(base):
            return vars(base)[name], isinstance(base, DeclaredClass)
    return _ABSENT, False


def _function(held: object) -> object:
    """The function behind what a class holds: of a property, a virtual tensor, a class method."""
    if isinstance(held, Virtual):
        return held.function
    return held.fget if isinstance(held, property) else getattr(held, "__func__", held)


def _is_constant(value: object) -> bool:
    """Return whether an object cannot change in place: numbers, strings, and tuples and frozen dataclasses of them."""
    if isinstance(value, tuple | frozenset):
        return all(map(_is_constant, value))
    if is_dataclass(value) and not isinstance(value, type):
        parameters: object = getattr(type(value), "__dataclass_params__", None)
        return getattr(parameters, "frozen", False) and all(_is_constant(getattr(value, f.name)) for f in fields(value))
    return isinstance(value, _CONSTANTS + _CONSTANTS_OF_TORCH)


def _stream(device: torch.device) -> int | None:
    return torch._C._cuda_getCurrentRawStream(device.index) if device.type == "cuda" else None
