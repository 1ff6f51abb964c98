"""The cache of `@virtual(cached=True)`: values that are kept while nothing that they are derived from can have changed.

A module keeps them in its instance dict together with all that they were derived from. A read compares that with what is there
now, so nothing has to announce a change. Version counters cannot prove that a tensor is unchanged: fused optimizers, collectives,
NumPy and `.data` write without counting. So a value that is derived from tensors is kept only where the declaration says
`cached="may_be_stale"`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import torch
from torch import Tensor, get_default_dtype, is_grad_enabled
from torch._C import _is_any_autocast_enabled, _is_tracing, _len_torch_dispatch_stack
from torch._C._functorch import peek_interpreter_stack
from torch.compiler import is_dynamo_compiling

from ...common.naming import REFERENCE
from ..declaring.virtual_fields import Cached, Virtual
from .core.module_base import VIRTUAL_CACHE, ModuleBase
from .core.symbolic_tracing import symbolic_trace
from .virtual_reads import TensorReads
from .virtual_sources import Source, attribute_sources, contents, has_own_memory, tensor_source
from .virtual_tensors import compute, dtype_device_source, virtual

_SINGLE_STREAM = ("cpu", "meta", "mps")
"""Devices on which what was computed earlier is there for everything that follows."""

_is_capturing: Callable[[], bool] = torch.cuda.is_current_stream_capturing


class _Kept(NamedTuple):
    """A value with all that a later read compares."""

    owner: type[ModuleBase]
    value: Tensor
    version: int
    sources: tuple[Source, ...]
    like: tuple[str, str | None]
    """The registry, and the name in it, of the tensor that gives `dtype` and `device`. Without a name it is looked for."""
    dtype: torch.dtype
    device: torch.device
    on_cpu: bool
    stream: int | None
    """The stream of a GPU that the value was computed on."""
    modes: tuple[torch.dtype, bool, bool]
    """Torch's default dtype, whether the module was training, and whether gradients were recorded: a value that was computed
    with gradients enabled and has none is right without them too, but not the other way round."""


def cached_virtual(module: ModuleBase, owner: type[ModuleBase], name: str) -> Tensor:
    """`virtual`, kept until something changes that the value is derived from.

    A read compares the dtype and device that the function gets, the training mode, torch's default dtype, and the sources: those
    declared, else the attributes that the code of the function mentions. A value is not kept where it is derived from a tensor,
    a child module, or an object that can change in place. With `cached="may_be_stale"`, it may be derived from parameters and
    buffers of the module, which are compared by their version counters. Global variables count as constants.

    Nothing is kept or read while a graph is traced, under autocast, or under a dispatch mode. Nothing is kept in inference mode,
    under a functorch transform, while a CUDA graph is captured, or where the value takes part in autograd.

    Returns:
        A tensor as `virtual` returns it. Two reads may give the same object: do not change it in place.

    Raises:
        RuntimeError: the method raised AttributeError, which Python would take for a missing attribute.
        TypeError: the method returned something other than a tensor.
    """
    return getter(owner, name)(module)


def getter(owner: type[ModuleBase], name: str) -> Callable[[ModuleBase], Tensor]:
    """`cached_virtual` for one attribute: what the property of a declared class calls, with no call in between."""

    def read(module: ModuleBase) -> Tensor:
        """The virtual tensor of a module: the kept one if nothing that it depends on has changed."""
        # First of all: what is looked up on the way is a guard.
        if is_dynamo_compiling() or symbolic_trace._is_fx_tracing_flag:
            return virtual(module, owner, name)
        state = module.__dict__
        if VIRTUAL_CACHE in state:
            kept = state[VIRTUAL_CACHE].get(name)
            if kept is not None:
                owned_by, value, version, sources, like, dtype, device, on_cpu, stream, modes = kept
                default_dtype, training, grad_mode = modes
                if (
                    owned_by is owner
                    and value._version == version
                    and not value.requires_grad
                    and state["training"] is training
                    and (grad_mode or not is_grad_enabled())
                    and get_default_dtype() is default_dtype
                    and not _is_any_autocast_enabled()
                    and not _len_torch_dispatch_stack()
                    and not _is_tracing()
                    and (stream is None or (_stream(device) == stream and not _is_capturing()))
                ):
                    registry, called = like
                    found: Any = state[registry].get(called)
                    if (
                        dtype_device_source(module) == (dtype, device)
                        if found is None
                        else found.dtype is dtype and (found.is_cpu if on_cpu else found.device == device)
                    ):
                        for home, key, source, look, seen in sources:
                            found = (state if home is None else state[home]).get(key)
                            if found is not source or (look is not None and look(found) != seen):
                                break
                        else:
                            return value  # type: ignore[no-any-return] # a tensor: `_computed` has put it there
        return _computed(module, owner, name)

    return read


def _computed(module: ModuleBase, owner: type[ModuleBase], name: str) -> Tensor:
    """Compute a value, and keep it with its sources where nothing that it is derived from can change unnoticed."""
    dtype, device = dtype_device_source(module)
    if not _may_keep(device) or _was_refused(module, owner, name):
        return compute(module, owner, name, dtype, device)
    specifier = owner._specifiers[name]
    assert isinstance(specifier, Virtual)
    modes = get_default_dtype(), module.training, is_grad_enabled()
    now = (_like(module), dtype, device, device.type == "cpu", _stream(device), modes)
    attributes = attribute_sources(module, specifier.function, specifier.sources)
    value: Tensor | None = None
    reads = TensorReads()
    if attributes is not None:
        # What fails for a reason of its own fails again below. Some of torch's functions only fail in a mode: `torch.cond`.
        with suppress(Exception), reads:
            value = compute(module, owner, name, dtype, device)
    if attributes is None or value is None:
        value = compute(module, owner, name, dtype, device)
        _refuse(module, owner, name, with_gradients=False)
        return value
    reads.add(value)
    sources = _all_sources(module, attributes, reads, specifier.cached)
    if sources is None or type(value) is not Tensor or value.is_inference() or not has_own_memory(value):
        _refuse(module, owner, name, with_gradients=False)
    elif value.requires_grad:
        _refuse(module, owner, name, with_gradients=True)
    else:
        vars(module).setdefault(VIRTUAL_CACHE, {})[name] = _Kept(owner, value, value._version, sources, *now)
    return value


def _like(module: ModuleBase) -> tuple[str, str | None]:
    """Where the tensor is that `dtype_device_source` takes dtype and device from."""
    name = type(module)._dtype_device_source
    home = "_parameters" if vars(module)["_parameters"].get(name) is not None else "_buffers"
    empty = module._buffers.get(name) if name == REFERENCE else None
    return home, None if empty is not None and empty.is_meta else name


def _all_sources(
    module: ModuleBase, attributes: tuple[Source, ...], reads: TensorReads, cached: Cached
) -> tuple[Source, ...] | None:
    """What a value was derived from; None where something in it can change unnoticed."""
    if not reads.is_complete:
        return None
    found = list(attributes)
    others = {id(kept.value): kept for kept in _kept_values(module)}
    for read in reads:
        if id(read.tensor) in others:  # another virtual tensor of the module
            found += others[id(read.tensor)].sources
        else:
            source = tensor_source(module, read)
            if source is None:
                return None
            found.append(source)
    if cached != "may_be_stale" and any(source.look is contents for source in found):
        return None
    return tuple(found)


def _kept_values(module: ModuleBase) -> list[_Kept]:
    cache: dict[object, object] = vars(module).get(VIRTUAL_CACHE, {})
    return [kept for kept in list(cache.values()) if isinstance(kept, _Kept)]


def _refuse(module: ModuleBase, owner: type[ModuleBase], name: str, with_gradients: bool) -> None:
    """Note that a value cannot be kept (or cannot where gradients are recorded), so that later reads only compute it."""
    vars(module).setdefault(VIRTUAL_CACHE, {})[owner, name] = with_gradients


def _was_refused(module: ModuleBase, owner: type[ModuleBase], name: str) -> bool:
    with_gradients: bool | None = vars(module).get(VIRTUAL_CACHE, {}).get((owner, name))
    return with_gradients is False or (with_gradients is True and is_grad_enabled())


def _may_keep(device: torch.device) -> bool:
    """Whether what is computed now is right for later reads, as far as torch's modes and the device say."""
    return (
        not torch.compiler.is_compiling()
        and torch._C._len_torch_dispatch_stack() == 0
        and peek_interpreter_stack() is None
        and torch._C._get_tracing_state() is None
        and not _is_any_autocast_enabled()
        and not torch.is_inference_mode_enabled()
        and (device.type in _SINGLE_STREAM or (device.type == "cuda" and not _is_capturing()))
    )


def _stream(device: torch.device) -> int | None:
    """The stream of a GPU that is current. What another one computed may not be there yet."""
    return torch._C._cuda_getCurrentRawStream(device.index) if device.type == "cuda" else None
