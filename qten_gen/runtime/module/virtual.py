"""Virtual tensors: attributes of a Module that are computed when they are read.

The function gets the dtype and device of the module's *anchor*: its first parameter without a dtype of its own, else such a
buffer, else an empty buffer registered for the purpose. So a virtual tensor follows `.to()` without being in the state dict.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, is_grad_enabled
from torch._C import _is_tracing, _len_torch_dispatch_stack
from torch._C._functorch import peek_interpreter_stack
from torch.compiler import is_dynamo_compiling

from ..declaring.fields import Virtual

if TYPE_CHECKING:
    from .module import Module

CACHE = "_derived"
"""The key of the cached values in a module's instance dict."""


class _Entry(NamedTuple):
    """A cached value with what it was computed from."""

    owner: type[Module]
    key: tuple[object, ...]
    """Dtype, device, grad mode, the identities of the sources, and the versions of those that are tensors."""
    sources: list[object]
    """Config values, parameters and buffers, held so that their identities stay theirs."""
    value: Tensor
    version: int


def virtual(module: Module, owner: type[Module], name: str) -> Tensor:
    """Compute the virtual tensor that `owner` declares as `name`.

    Raises:
        RuntimeError: the function raised AttributeError. As it is, that would be taken for a missing attribute.
        TypeError: the function returned something other than a tensor.
    """
    dtype, device = anchor(module)
    return _compute(module, owner, name, dtype, device)


def cached_virtual(module: Module, owner: type[Module], name: str) -> Tensor:
    """`virtual`, kept until the anchor's dtype or device, a config field, or one of the module's own tensors changes.

    Not seen are changes through `.data`, in submodules, and inside a list or dict that is a config field. Nothing is kept while
    a graph is traced, under a dispatch mode or a functorch transform, nor where the value takes part in autograd.
    """
    state = vars(module)
    if CACHE in state:
        entry: Any = state[CACHE].get(name)
        if type(entry) is tuple and not is_dynamo_compiling():
            value, version, declared_by, grad_mode, checked = entry
            if (
                declared_by is owner
                and value._version == version
                and is_grad_enabled() is grad_mode
                and not _len_torch_dispatch_stack()
                and not _is_tracing()
            ):
                for home, key, source, seen in checked:  # with its version, where it is a tensor
                    found: Any = (state if home is None else state[home]).get(key)
                    if found is not source or (seen is not None and found._version != seen):
                        break
                else:
                    return value  # type: ignore[no-any-return] # a tensor: `_derived_from` has put it there
    specifier = owner._specifiers[name]
    if isinstance(specifier, Virtual) and specifier.sources is not None:
        return _derived_from(module, owner, name, specifier.sources)
    dtype, device = anchor(module)
    if not _may_cache():
        return _compute(module, owner, name, dtype, device)
    tensors = [*module._parameters.values(), *module._buffers.values()]
    sources = [*map(state.get, module._config), *tensors]
    try:
        versions = [tensor._version for tensor in tensors if tensor is not None]
    except RuntimeError:  # tensors of inference mode have no versions
        return _compute(module, owner, name, dtype, device)
    key = (dtype, device, torch.is_grad_enabled(), *map(id, sources), *versions)
    cache: dict[str, object] = state.setdefault(CACHE, {})
    entry = cache.get(name)
    if (
        isinstance(entry, _Entry)
        and entry.owner is owner
        and entry.key == key
        and entry.value._version == entry.version
    ):
        return entry.value
    value = _compute(module, owner, name, dtype, device)
    if type(value) is Tensor and not value.requires_grad and not value.is_inference():
        cache[name] = _Entry(owner, key, sources, value, value._version)
    return value


def _derived_from(module: Module, owner: type[Module], name: str, names: tuple[str, ...]) -> Tensor:
    """Compute a value with declared sources, and keep it with their identities and versions.

    Its dtype and device are not kept with it: `_apply` and `load_state_dict` forget the values of the modules that they change.

    Raises:
        ValueError: a source is no config field, parameter or buffer.
    """
    state = vars(module)
    sources = [_source(module, name, source) for source in names]
    dtype, device = anchor(module)
    try:
        versions = [None if home is None or value is None else value._version for home, _, value in sources]
    except RuntimeError:  # tensors of inference mode have no versions
        return _compute(module, owner, name, dtype, device)
    grad_mode = is_grad_enabled()
    value = _compute(module, owner, name, dtype, device)
    if _may_cache() and type(value) is Tensor and not value.requires_grad and not value.is_inference():
        checked = tuple((*source, version) for source, version in zip(sources, versions, strict=True))
        state.setdefault(CACHE, {})[name] = (value, value._version, owner, grad_mode, checked)
    return value


def _source(module: Module, name: str, source: str) -> tuple[str | None, str, Any]:
    """Where a source is kept in the module, None for the instance dict, its name there, and its value."""
    for home in ("_parameters", "_buffers"):
        if source in module.__dict__[home]:
            return home, source, module.__dict__[home][source]
    if source in module._config and source in module.__dict__:
        return None, source, module.__dict__[source]
    raise ValueError(
        f"{type(module).__name__}.{name}: {source!r} in sources is no config field, parameter or buffer of the module"
    )


def anchor(module: Module) -> tuple[torch.dtype, torch.device]:
    """The dtype and device that a module's virtual tensors follow.

    A class with its own `__init__` has no declared anchor: there it is the first floating tensor in the module or its children.
    So it is where a parametrization computes the anchor: to read it would compute it once more than the author's code does.
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


def _compute(module: Module, owner: type[Module], name: str, dtype: torch.dtype, device: torch.device) -> Tensor:
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


def _may_cache() -> bool:
    return (
        not torch.compiler.is_compiling()
        and torch._C._len_torch_dispatch_stack() == 0
        and peek_interpreter_stack() is None
        and torch._C._get_tracing_state() is None
    )
