"""`to_empty` of a declared module: its tensors have memory without values, until something loads or initialises them.

nn.Module gives each tensor memory, one module after another. The outermost declared module then sees to all that are below it:
unsaved buffers get their values (`unsaved_buffers.py`), each other tensor is marked, and the first call looks for the marks.
Parameters of which this process holds a part are drawn as a whole when a trainer initialises them, so that the values do not
depend on the number of processes.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch._C._functorch import peek_interpreter_stack
from torch.utils._python_dispatch import TorchDispatchMode

from ...common.name_patterns import listed
from .marks import is_first_marked, mark_first
from .module_base import INITIALIZING, WATCHED, ModuleBase
from .stand_in import declared_class
from .unsaved_buffers import look, remake_emptied, unhook

Before = list[tuple[nn.Module, dict[str, Tensor | None] | None]]
"""The modules that are emptied, children first, each with the buffers that it had before; None where none is unsaved."""


def begin(module: ModuleBase, *, recurse: bool) -> Before:
    """Note a module and, with `recurse`, the ones below it, before they are emptied."""
    parts: dict[nn.Module, None] = {}
    if recurse:
        _add_children_first(module, parts)
    else:
        parts[module] = None
    if any(WATCHED in vars(part) for part in parts):
        look(module)
    return [(part, dict(part._buffers) if part._non_persistent_buffers_set else None) for part in parts]


def _add_children_first(module: nn.Module, parts: dict[nn.Module, None]) -> None:
    """Add a module and the ones below it, in an order in which a buffer may be computed of a child's."""
    for child in module._modules.values():
        if child is not None and child not in parts:
            _add_children_first(child, parts)
    parts[module] = None


def finish(emptied: Before) -> None:
    """Make the unsaved buffers again, and mark the other tensors until one of the modules is first called."""
    saved: list[Tensor] = []
    for part, before in emptied:
        if before is not None:
            remake_emptied(part, before)
        if part._parameters or part._buffers:
            saved += [tensor for _, tensor in _own_saved(part)]
    if any(type(tensor).__name__ == "DTensor" for tensor in saved):
        _let_draw_whole(part for part, _ in emptied)
    if mark_first(saved):
        for part, _ in emptied:
            if isinstance(part, ModuleBase) and _before_first_call not in part._forward_pre_hooks.values():
                part.register_forward_pre_hook(_before_first_call)


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
            if getattr(vars(part).get(name), "func", None) is _draw_whole:
                del vars(part)[name]
    saved = ((path, *each) for path, part in module.named_modules() for each in _own_saved(part))
    left = [f"{path}.{name}".lstrip(".") for path, name, tensor in saved if is_first_marked(tensor)]
    if left:
        raise RuntimeError(
            f"{declared_class(module).__name__}: nothing has written {listed(left)} since to_empty() gave it memory; load it from"
            " a checkpoint, or initialise it by reset_parameters(). The next call does not look"
        )


def _let_draw_whole(parts: Iterable[nn.Module]) -> None:
    """Let modules, torch's own layers too, draw whole values by these methods."""
    for part in parts:
        vars(part).update(
            {name: partial(_draw_whole, part, name) for name in INITIALIZING if hasattr(type(part), name)}
        )


def _draw_whole(module: nn.Module, method: str, *args: object, **keywords: object) -> object:
    with _DrawsWhole():  # type: ignore[no-untyped-call] # torch gives it no types
        return getattr(type(module), method)(module, *args, **keywords)


class _DrawsWhole(TorchDispatchMode):  # type: ignore[no-untyped-call] # torch gives it no types
    """Draws a whole DTensor as one process would, of which each process keeps its part.

    torch draws each part by itself, on the CPU with the same numbers in each. What the first process has drawn is sent to the
    others, whose generators may be in other states.
    """

    def __torch_dispatch__(self, func: Any, types: object, args: Any = (), kwargs: Any = None) -> Any:
        tensor: Any = args[0] if args else None
        if not hasattr(tensor, "device_mesh") or torch.Tag.nondeterministic_seeded not in func.tags:
            return func(*args, **(kwargs or {}))
        from torch.distributed.tensor import distribute_tensor

        memory = torch.empty(tensor.shape, dtype=tensor.dtype, device=tensor.device)
        drawn = func(memory, *args[1:], **(kwargs or {}))
        part = distribute_tensor(drawn, tensor.device_mesh, tensor.placements)
        return tensor.copy_(part) if drawn is memory else part
