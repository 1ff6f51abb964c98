"""Buffers that no checkpoint holds, made again whatever a trainer does to a module.

A trainer makes a model on meta and gives its tensors memory. Parameters and persistent buffers then come from the checkpoint. The
others get the values that their class gives them (`stand_in.py`), as soon as the module notices:

* `to_empty`, a move or a cast: `remake_emptied`;
* a load by `assign=True`, which leaves on meta what the state dict lacks, and memory that a trainer assigns past every method of
  the module: `look`, after such a load, and when the module is first called, copied or moved, or one of its buffers is read.

For this a module with unsaved buffers on meta is watched: it notes each of them as its own code has left it. One that was
written or replaced on meta since then has lost what something else wrote there, such as the constructor of a module around it.
Such a buffer, and one that nothing makes, becomes `Unwritten`, which raises when it is read before somebody has written it.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Container, Mapping
from inspect import signature
from traceback import walk_stack
from typing import Any

import torch
from torch import Tensor, nn
from torch._C._functorch import peek_interpreter_stack
from torch.compiler import is_dynamo_compiling

from .marks import Unwritten, version_of
from .module_base import WATCHED, ModuleBase, RegisteredProperty, any_on_meta, is_asked_by_torch
from .module_base import buffer as buffer_property
from .stand_in import fixed_values, is_close, made_values

_ANY = None
"""In a note, in place of the version of a buffer in a copy of a module."""
_FOREIGN = -1
"""The same, for a buffer that something else than the module has written."""


def _unsaved(module: nn.Module) -> dict[str, Tensor]:
    """The unsaved buffers of a module that have elements, and values to look at: fake tensors have none."""
    held = {name: each for name, each in module._buffers.items() if name in module._non_persistent_buffers_set}
    return {name: each for name, each in held.items() if each is not None and each.numel() and not _is_fake(each)}


def _is_fake(tensor: Tensor) -> bool:
    return "Fake" in type(tensor).__name__  # in torch's fake mode and in ours


def watch(module: nn.Module, foreign: Container[str] = ()) -> None:
    """Watch a module while an unsaved buffer is on meta: note how its own code has left each, or that it has `foreign` values."""
    held = _unsaved(module)
    if not any_on_meta(held.values()):
        unwatch(module)
        return
    _note(module, held, foreign)
    if _before_call not in module._forward_pre_hooks.values():
        module.register_forward_pre_hook(_before_call)


def unwatch(module: nn.Module) -> None:
    """Look at the unsaved buffers of a module no more: they have their values."""
    if vars(module).pop(WATCHED, None) is not None:
        unhook(module, _before_call)


def _note(module: nn.Module, held: Mapping[str, Tensor], foreign: Container[str] = ()) -> None:
    """Note each buffer, with its version."""
    vars(module)[WATCHED] = {
        name: (each, _FOREIGN if name in foreign else version_of(each)) for name, each in held.items()
    }


def written_elsewhere(module: nn.Module, held: Mapping[str, Tensor | None] | None = None) -> set[str]:
    """The buffers on meta that something else than the module's own methods has replaced, or written in place."""
    noted, held = vars(module).get(WATCHED, {}), module._buffers if held is None else held
    now = {name: each for name in noted if type(each := held.get(name)) is Tensor and each.is_meta}
    own = {name for name, each in now.items() if noted[name][0] is each and noted[name][1] in (_ANY, version_of(each))}
    return now.keys() - own


def remake_moved(module: nn.Module, before: Mapping[str, Tensor | None]) -> None:
    """Make the unsaved buffers of a module that were on meta and have memory now."""
    is_on_meta = any_on_meta((*before.values(), *module._buffers.values()))
    if not is_on_meta:
        unwatch(module)
        return
    changed = _changed(module, before)
    for old, new in changed.values():
        if type(old) is Unwritten and old.is_meta and type(new) is Tensor:
            Unwritten.become(new, old.why)
    _remake_from_meta(module, changed, written_elsewhere(module, before))


def remake_emptied(module: nn.Module, before: Mapping[str, Tensor | None]) -> None:
    """Give the unsaved buffers of a module the values that they had before `to_empty`, and make the ones that were on meta."""
    changed = _changed(module, before)
    for old, new in changed.values():
        if type(old) is Unwritten:
            if type(new) is Tensor:
                Unwritten.become(new, old.why)
        elif not (old.is_meta or new.is_meta):
            new.detach().copy_(old.detach())
    if any_on_meta((*before.values(), *module._buffers.values())):
        _remake_from_meta(module, changed, written_elsewhere(module, before))
    else:
        unwatch(module)


def _changed(module: nn.Module, before: Mapping[str, Tensor | None]) -> dict[str, tuple[Tensor, Tensor]]:
    """The unsaved buffers of a module as they were before, and as they are now."""
    found = ((name, before.get(name), new) for name, new in _unsaved(module).items())
    return {name: (old, new) for name, old, new in found if old is not None and not _is_fake(old)}


def _remake_from_meta(module: nn.Module, changed: Mapping[str, tuple[Tensor, Tensor]], foreign: set[str]) -> None:
    """Make the changed buffers that were on meta, and note the ones that are on meta now."""
    away = {
        name: old for name, (old, new) in changed.items() if new.is_meta and not old.is_meta and type(old) is Tensor
    }
    if away:  # what the class does not make itself was written by something else
        fixed = fixed_values(module, [*away])
        foreign |= {name for name, value in fixed.items() if not is_close(away[name].cpu(), value.to(away[name].dtype))}
    lost = [
        name for name, (old, new) in changed.items() if old.is_meta and not new.is_meta and type(new) is not Unwritten
    ]
    if lost:
        _remake(module, lost, None, foreign)
    watch(module, foreign)


def _remake(module: nn.Module, names: list[str], device: torch.device | None, foreign: Container[str]) -> None:
    """Make buffers of a module where they are, or on a device. What nothing makes, or is foreign, becomes `Unwritten`."""
    with torch.no_grad():
        for name, value in made_values(module, names).items():
            held = module._buffers[name]
            assert held is not None
            if value is None or name in foreign:
                if type(held) in (Tensor, Unwritten):
                    Unwritten.become(held, _never_written(module, name, is_foreign=name in foreign))
            elif held.is_meta or held.shape != value.shape:
                module._buffers[name] = value.to(device or held.device, held.dtype)
            else:
                write_whole(held, value)


def unhook(module: nn.Module, hook: Callable[..., object]) -> None:
    for key in [key for key, each in module._forward_pre_hooks.items() if each is hook]:
        del module._forward_pre_hooks[key]


def write_whole(tensor: Tensor, value: Tensor) -> None:
    """Write a whole value into a tensor, or the part that this process holds into a DTensor."""
    if hasattr(tensor, "device_mesh"):
        from torch.distributed.tensor import distribute_tensor

        # Without this option, as in torch 2.6, one process sends the parts of its value, which is the same in all.
        local = {"src_data_rank": None} if "src_data_rank" in signature(distribute_tensor).parameters else {}
        placed: Any = tensor
        value = distribute_tensor(value.to(tensor.device, tensor.dtype), placed.device_mesh, placed.placements, **local)
    tensor.copy_(value)


def _never_written(module: nn.Module, name: str, *, is_foreign: bool = False) -> str:
    """The message about an unsaved buffer that nothing makes: why, and what to do about it."""
    cls = type(module).__name__
    why = f"nothing in {cls} makes the same values again from what is no saved tensor"
    if is_foreign:
        why = f"what a constructor or a module around {cls} has written there is lost"
    return (
        f"{cls}.{name} was never written: it is in no state dict, and {why}; declare it by buffer(..., value=...) or"
        f" initializer=, or let {cls}.reset_parameters fill it"
    )


def unsaved(name: str, doc: str) -> RegisteredProperty:
    """The property of a buffer that is in no state dict: a watched module looks at it before it is read."""
    usual: Any = buffer_property(name, doc).fget

    def read(module: Any) -> Any:
        if WATCHED in module.__dict__ and not is_dynamo_compiling() and not is_asked_by_torch():
            look(module)
        return usual(module)

    return RegisteredProperty.of(unsaved, read, name, doc)


def state_to_copy(module: ModuleBase) -> dict[str, object]:
    """The instance dict for a copy of a watched module, which looks at its buffers first."""
    look(module)
    foreign = written_elsewhere(module)
    noted = {name: (each, _FOREIGN if name in foreign else _ANY) for name, each in _unsaved(module).items()}
    return {**vars(module), WATCHED: noted}


def _before_call(module: ModuleBase, args: tuple[object, ...]) -> None:
    """A hook that is called once, by modules that were made on meta."""
    # Dynamo goes through all of `sys.modules` where it traces this, and fails where another import adds to it meanwhile.
    dynamo: Any = torch._dynamo if torch.compiler.is_compiling() else sys.modules.get("torch._dynamo")
    if (dynamo.disable(look) if dynamo else look)(module, args):
        for part in module.modules():  # some may never be called themselves
            unwatch(part)


# What torch.compiler.disable does, without importing the compiler: a compiled call looks at buffers as any other does.
_before_call._torchdynamo_disable = True  # type: ignore[attr-defined] # functions take any attribute


def look(module: ModuleBase, given: tuple[object, ...] = (), device: torch.device | None = None) -> bool:
    """Make the unsaved buffers in a module that are on meta, or got memory past every method, where its tensors are, or else on
    `device`; False for a run on meta alone.
    """
    tensors = (each for each in (*given, *module.parameters(), *module.buffers()) if isinstance(each, Tensor))
    device = next((each.device for each in tensors if not each.is_meta), device)
    if device is None or peek_interpreter_stack() is not None:
        return False
    for part in reversed([*module.modules()]):  # a value may read a child's
        if WATCHED in vars(part):
            _look_at(part, device)
    return True


def look_once(module: ModuleBase, device: torch.device) -> bool:
    """`look`; False if one of the module's own unsaved buffers is left on meta."""
    look(module, device=device)
    watch(module)
    return WATCHED not in vars(module)


def _look_at(module: Any, device: torch.device) -> None:
    """Make a module's own unsaved buffers on meta, and compare the ones that got memory with the declaration."""
    noted = vars(module)[WATCHED]
    held = {name: each for name, each in _unsaved(module).items() if type(each) is Tensor and not each.is_inference()}
    on_meta = [name for name, each in held.items() if each.is_meta]
    if on_meta:
        _remake(module, on_meta, device, written_elsewhere(module, held))
    # What was written in place has values of somebody's own, and what is lent for one call too.
    replaced = {name: each for name, each in held.items() if name in noted and each is not noted[name][0]}
    given = [name for name, each in replaced.items() if not (each.is_meta or each._version or is_lent())]
    values = fixed_values(module, given) if given else {}
    for name in given:
        buffer, value = held[name], values.get(name)
        if value is None and noted[name][0].is_meta:
            _warn(
                f"{type(module).__name__}.{name} was on meta, and has memory now that nobody has written in place:"
                f" {_never_written(module, name)}. It is right only if that was assigned with its values"
            )
        elif value is not None and value.shape == buffer.shape and not is_close(buffer.cpu(), value.to(buffer.dtype)):
            module._buffers[name] = value.to(buffer.device, buffer.dtype)  # somebody else may hold the other
            _warn(
                f"{type(module).__name__}.{name} had other values than its declaration gives when the module was first used, as"
                " where a trainer allocates a buffer of a model on meta and writes nothing; it has the declared ones now."
                " Write into it in place, or assign it after the first call, to give it values of your own"
            )
    _note(module, _unsaved(module))  # a trainer that reads one buffer may still replace the next


def is_lent() -> bool:
    """Return whether `functional_call` runs, which lends tensors to modules for one call."""
    return any(frame.f_code.co_name == "_functional_call" for frame, _ in walk_stack(sys._getframe()))


def _warn(message: str) -> None:
    """Warn at the statement that calls, reads or copies the module."""
    names = (frame.f_globals.get("__name__", "") for frame, _ in walk_stack(sys._getframe()))
    inside = ("torch", "qten_gen", "copy", "contextlib")
    level = next((level for level, name in enumerate(names, 1) if name.partition(".")[0] not in inside), 1)
    warnings.warn(message, stacklevel=level)
