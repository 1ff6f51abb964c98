"""Virtual tensors that are kept until something that they are derived from changes.

A module keeps them in its instance dict, with the sources as they were: the objects, and of tensors the version counter and
whether they require a gradient. A read compares, so nothing has to announce a change; only `_apply` and loading a state
dict, which may change a dtype or device, forget what is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, is_grad_enabled
from torch._C import _is_tracing, _len_torch_dispatch_stack
from torch._C._functorch import peek_interpreter_stack
from torch.compiler import is_dynamo_compiling

from ..declaring.fields import Virtual
from .virtual import compute, dtype_device_source, virtual

if TYPE_CHECKING:
    from .module import Module

CACHE = "_derived"
"""The key of the kept values in a module's instance dict."""


class _Source(NamedTuple):
    """Something that a value was computed from, as it was then."""

    home: str | None
    """`_parameters` or `_buffers`; None for the instance dict."""
    name: str
    value: Any
    version: int | None
    """None for what is no tensor."""
    requires_grad: bool


class _Kept(NamedTuple):
    """A value with all that a later read compares."""

    owner: type[Module]
    value: Tensor
    version: int
    grad_mode: bool
    """A value that was computed with gradients enabled and has none is right without them too, but not the other way round."""
    sources: tuple[_Source, ...]


def cached_virtual(module: Module, owner: type[Module], name: str) -> Tensor:
    """`virtual`, kept until a source changes: those declared, or every config field, parameter and buffer of the module.

    Not seen are changes through `.data`, in submodules, and inside a list or dict that is a config field. Nothing is kept while
    a graph is traced, under a dispatch mode or a functorch transform, nor where the value takes part in autograd.
    """
    return getter(owner, name)(module)


def getter(owner: type[Module], name: str) -> Callable[[Module], Tensor]:
    """`cached_virtual` for one attribute: what the property of a declared class calls, with no call in between."""

    def read(module: Module) -> Tensor:
        if is_dynamo_compiling():  # first of all: what is looked up on the way is a guard
            return virtual(module, owner, name)
        state = module.__dict__
        if CACHE in state:
            kept = state[CACHE].get(name)
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


def _computed(module: Module, owner: type[Module], name: str) -> Tensor:
    """Compute a value, and keep it with its sources where that is safe.

    Raises:
        ValueError: a declared source is no config field, parameter or buffer.
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
        vars(module).setdefault(CACHE, {})[name] = kept
    return value


def _sources(module: Module, name: str, declared: tuple[str, ...] | None) -> Iterator[_Source]:
    state = module.__dict__
    if declared is None:
        declared = (*module._config, *module._parameters, *module._buffers)
    for source in declared:
        home = next((home for home in ("_parameters", "_buffers") if source in state[home]), None)
        if home is None and not (source in module._config and source in state):
            raise ValueError(
                f"{type(module).__name__}.{name}: {source!r} in sources is no config field, parameter or buffer "
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
