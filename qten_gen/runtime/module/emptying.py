"""`to_empty` of a declared module: its tensors have memory without values, until something loads or initialises them.

nn.Module gives each tensor memory, one module after another. The outermost declared module then sees to all that are below it:
unsaved buffers get their values (`unsaved_buffers.py`), each other tensor is marked, and the first call looks for the marks.
Tensors of which this process holds a part are whole while a trainer initialises them, so that the values do not depend on the
number of processes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch._C._functorch import peek_interpreter_stack

from ...common.name_patterns import listed
from .marks import is_first_marked, mark_first
from .module_base import INITIALIZING, WATCHED, ModuleBase, with_plain_parts
from .stand_in import declared_class
from .unsaved_buffers import look, remake_emptied, unhook, write_whole


@contextmanager
def emptying(module: ModuleBase, *, recurse: bool) -> Iterator[None]:
    """Around the `to_empty` of a module and, with `recurse`, of the ones below it: make their unsaved buffers again, and mark the
    other tensors until one of the modules is first called.
    """
    parts: dict[nn.Module, None] = {}
    if recurse:
        _add_children_first(module, parts)
    else:
        parts[module] = None
    if any(WATCHED in vars(part) for part in parts):
        look(module)
    before = [dict(part._buffers) if part._non_persistent_buffers_set else {} for part in parts]
    yield
    for part, buffers in zip(parts, before, strict=True):
        if buffers:
            remake_emptied(part, buffers)
    saved = [tensor for part in parts for _, tensor in _own_saved(part)]
    if any(type(tensor).__name__ == "DTensor" for tensor in saved):
        _let_initialise_whole(parts)
    if mark_first(saved):
        for part in parts:
            if isinstance(part, ModuleBase) and _before_first_call not in part._forward_pre_hooks.values():
                part.register_forward_pre_hook(_before_first_call)


def _add_children_first(module: nn.Module, parts: dict[nn.Module, None]) -> None:
    """Add a module and the ones below it, in an order in which a buffer may be computed of a child's."""
    for child in module._modules.values():
        if child is not None and child not in parts:
            _add_children_first(child, parts)
    parts[module] = None


def _own_saved(module: nn.Module) -> list[tuple[str, Tensor]]:
    """The own parameters and persistent buffers of a module, by name."""
    saved: list[tuple[str, Tensor]] = [(name, each) for name, each in module._parameters.items() if each is not None]
    if module._buffers:
        unsaved = module._non_persistent_buffers_set
        saved += [(name, each) for name, each in module._buffers.items() if each is not None and name not in unsaved]
    return saved


def marked(module: nn.Module) -> list[tuple[nn.Module, str]]:
    """What is left without values in a module that was emptied: a cast would change the marks."""
    if _before_first_call not in module._forward_pre_hooks.values():
        return []
    return [(part, name) for part in module.modules() for name, each in _own_saved(part) if is_first_marked(each)]


def mark_again(marked: list[tuple[nn.Module, str]]) -> None:
    """Mark it again after a cast."""
    mark_first([each for part, name in marked for own, each in _own_saved(part) if own == name])


def _before_first_call(module: nn.Module, args: tuple[object, ...]) -> None:
    """A hook before the first call after `to_empty`.

    Raises:
        RuntimeError: nothing has written a parameter or saved buffer since then.
    """
    if torch.compiler.is_compiling() or peek_interpreter_stack() is not None:
        return
    for part in module.modules():
        unhook(part, _before_first_call)
        for name in INITIALIZING:
            if getattr(vars(part).get(name), "func", None) is _initialise_whole:
                del vars(part)[name]
    saved = ((path, *each) for path, part in module.named_modules() for each in _own_saved(part))
    left = [f"{path}.{name}".lstrip(".") for path, name, tensor in saved if is_first_marked(tensor)]
    if left:
        raise RuntimeError(
            f"{declared_class(module).__name__}: nothing has written {listed(left)} since to_empty() gave it memory; load it from"
            " a checkpoint, or initialise it by reset_parameters(). The next call does not look"
        )


def _let_initialise_whole(parts: Iterable[nn.Module]) -> None:
    """Let modules, torch's own layers too, initialise whole tensors by these methods. One that is set on the module stays."""
    for part in parts:
        own = vars(part)
        names = [name for name in INITIALIZING if hasattr(type(part), name) and name not in own]
        own.update({name: partial(_initialise_whole, part, name) for name in names})


def _initialise_whole(module: nn.Module, method: str, *args: object, **keywords: object) -> object:
    """Call an initialising method as one process would, and keep the part of each tensor that this process holds.

    torch draws each part by itself, on the CPU with the same numbers in each, and fills an identity by parts. What the first
    process has made counts, because the generators of the others may be in other states.
    """
    parts = [module] if method == "apply" else with_plain_parts(module)  # `apply` calls itself for what is below
    registries = [(vars(part), key, vars(part)[key]) for part in parts for key in ("_parameters", "_buffers")]
    registries = [each for each in registries if type(each[2]) is dict]  # others are whole by now
    wholes: dict[int, tuple[Any, Tensor]] = {}
    for state, key, registry in registries:
        state[key] = _WholeWhenRead(registry, wholes)
    try:
        result: object = getattr(type(module), method)(module, *args, **keywords)
    finally:
        in_parts = {id(whole): held for held, whole in wholes.values()}
        for state, key, registry in registries:
            now = dict(zip(state[key], dict.values(state[key]), strict=True))
            registry.clear()
            registry.update({name: in_parts.get(id(each), each) for name, each in now.items()})
            state[key] = registry
    with torch.no_grad():
        for held, whole in wholes.values():
            write_whole(held, whole.detach(), from_first=True)
    return result


class _WholeWhenRead(dict[str, Any]):
    """A registry of a module that gives each DTensor whole, from when it is first read.

    `wholes` has both, by the id of the DTensor, for the registries of several modules.
    """

    def __init__(self, registry: dict[str, Any], wholes: dict[int, tuple[Any, Tensor]]) -> None:
        super().__init__(registry)
        self._wholes = wholes

    def __getitem__(self, name: str) -> Any:
        held = super().__getitem__(name)
        if not hasattr(held, "device_mesh"):
            return held
        if id(held) not in self._wholes:
            whole: Tensor = held.detach().full_tensor()
            self._wholes[id(held)] = (
                held,
                nn.Parameter(whole, held.requires_grad) if isinstance(held, nn.Parameter) else whole,
            )
        self[name] = self._wholes[id(held)][1]
        return self[name]

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self else default  # noqa: SIM401 # which would call this

    def values(self) -> Any:
        return [self[name] for name in self]

    def items(self) -> Any:
        return [(name, self[name]) for name in self]
