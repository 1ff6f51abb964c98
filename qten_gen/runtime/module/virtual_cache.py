"""The cache of `@virtual(cached=True)`: values that are kept until something that they are derived from changes.

A module keeps them in its instance dict together with the sources: the objects, and for a tensor its version counter and whether
it requires a gradient. A read compares the sources with those of now, so nothing has to announce a change. Only `_apply` and
loading a state dict, which may change a dtype or device, clear the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor, is_grad_enabled
from torch._C import _is_tracing, _len_torch_dispatch_stack
from torch._C._functorch import peek_interpreter_stack
from torch.compiler import is_dynamo_compiling

from ..declaring.fields import Virtual
from .core.module_base import VIRTUAL_CACHE, ModuleBase
from .virtual_tensors import compute, dtype_device_source, virtual


class _Source(NamedTuple):
    """Something that a value was computed from, as it was then."""

    home: str | None
    """`_parameters` or `_buffers`; None for the instance dict."""
    name: str
    value: Any
    version: int | None
    """The version counter of a tensor; None for anything else."""
    requires_grad: bool


class _Kept(NamedTuple):
    """A value with all that a later read compares."""

    owner: type[ModuleBase]
    value: Tensor
    version: int
    grad_mode: bool
    """A value that was computed with gradients enabled and has none is right without them too, but not the other way round."""
    sources: tuple[_Source, ...]


def cached_virtual(module: ModuleBase, owner: type[ModuleBase], name: str) -> Tensor:
    """`virtual`, kept until a source changes: those declared, or every config field, parameter and buffer of the module.

    Changes through `.data`, in submodules, and inside a list or dict that is a config field are not seen. Nothing is kept while
    a graph is traced, under a dispatch mode or a functorch transform, or where the value takes part in autograd.

    Returns:
        A tensor as `virtual` returns it. Two reads may give the same object: do not change it in place.

    Raises:
        RuntimeError: the method raised AttributeError, which Python would take for a missing attribute.
        TypeError: the method returned something other than a tensor.
        ValueError: a declared source is not a config field, parameter or buffer.
    """
    return getter(owner, name)(module)


def getter(owner: type[ModuleBase], name: str) -> Callable[[ModuleBase], Tensor]:
    """`cached_virtual` for one attribute: what the property of a declared class calls, with no call in between."""

    def read(module: ModuleBase) -> Tensor:
        if is_dynamo_compiling():  # first of all: what is looked up on the way is a guard
            return virtual(module, owner, name)
        state = module.__dict__
        if VIRTUAL_CACHE in state:
            kept = state[VIRTUAL_CACHE].get(name)
            if kept is not None:
                declared_by, value, version, grad_mode, sources = kept
                if (
                    declared_by is owner
                    and value._version == version
                    and (grad_mode or not is_grad_enabled())
                    and not _len_torch_dispatch_stack()
                    and not _is_tracing()
                ):
                    for home, key, source, seen, requires_grad in sources:
                        found: Any = (state if home is None else state[home]).get(key)
                        if found is not source:
                            break
                        if seen is not None and (found._version != seen or found.requires_grad is not requires_grad):
                            break
                    else:
                        return value  # type: ignore[no-any-return] # a tensor: `_computed` has put it there
        return _computed(module, owner, name)

    return read


def _computed(module: ModuleBase, owner: type[ModuleBase], name: str) -> Tensor:
    """Compute a value, and keep it with its sources where that is safe.

    Raises:
        ValueError: a declared source is not a config field, parameter or buffer.
    """
    specifier = owner._specifiers[name]
    assert isinstance(specifier, Virtual)
    dtype, device = dtype_device_source(module)
    if not _may_keep():
        return compute(module, owner, name, dtype, device)
    try:
        sources = tuple(_sources(module, name, specifier.sources))
    except RuntimeError:  # tensors of inference mode have no versions
        return compute(module, owner, name, dtype, device)
    grad_mode = is_grad_enabled()
    value = compute(module, owner, name, dtype, device)
    if type(value) is Tensor and not value.requires_grad and not value.is_inference():
        kept = _Kept(owner, value, value._version, grad_mode, sources)
        vars(module).setdefault(VIRTUAL_CACHE, {})[name] = kept
    return value


def _sources(module: ModuleBase, name: str, declared: tuple[str, ...] | None) -> Iterator[_Source]:
    """What the value of `name` is derived from, as it is now: the declared sources, else every field of the module itself."""
    state = module.__dict__
    if declared is None:
        declared = (*module._config, *module._parameters, *module._buffers)
    for source in declared:
        home = next((home for home in ("_parameters", "_buffers") if source in state[home]), None)
        if home is None and not (source in module._config and source in state):
            raise ValueError(
                f"{type(module).__name__}.{name}: {source!r} in sources is not a config field, parameter or buffer "
                "of the module"
            )
        value: Any = (state if home is None else state[home])[source]
        if home is None or value is None:
            yield _Source(home, source, value, None, False)
        else:
            yield _Source(home, source, value, value._version, value.requires_grad)


def _may_keep() -> bool:
    return (
        not torch.compiler.is_compiling()
        and torch._C._len_torch_dispatch_stack() == 0
        and peek_interpreter_stack() is None
        and torch._C._get_tracing_state() is None
    )
