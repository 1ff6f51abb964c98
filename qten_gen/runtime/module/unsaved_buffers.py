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
from collections.abc import Callable, Container, Iterator, Mapping
from inspect import signature
from traceback import walk_stack
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch._C._functorch import peek_interpreter_stack
from torch.compiler import is_dynamo_compiling

from .kept_dtypes import kept_tensors
from .marks import Unwritten, version_of
from .module_base import WATCHED, ModuleBase, RegisteredProperty, any_on_meta, is_asked_by_torch, with_plain_parts
from .module_base import buffer as buffer_property
from .stand_in import declared_class, fixed_values, is_close, made_values


class _Note(NamedTuple):
    """A tensor as the module's own code has left it."""

    tensor: Tensor
    version: int | None
    """None where nothing counts: in a copy of a module, and in a plain module; -1 where something else has written it."""
    was_on_meta: bool


def _unsaved(module: nn.Module) -> dict[str, Tensor]:
    """The unsaved buffers of a module."""
    unsaved = module._non_persistent_buffers_set
    return {name: each for name, each in module._buffers.items() if each is not None and name in unsaved}


def _waits(tensor: Tensor) -> bool:
    """Return whether a tensor has no values yet: it is on meta, or fake as `deferred_init` makes them."""
    return tensor.is_meta or hasattr(tensor, "fake_mode")


def watch(module: nn.Module, foreign: Container[str] = ()) -> None:
    """Watch a module while an unsaved buffer, or a tensor whose dtype it keeps, is on meta: note how its own code has left each.

    `foreign` ones have values that something else has written.
    """
    kept = (tensor for _, tensor in kept_tensors(module))
    if not any_on_meta((*_unsaved(module).values(), *kept)):
        unwatch(module)
        return
    vars(module)[WATCHED] = _notes(module, foreign)
    if _before_call not in module._forward_pre_hooks.values():
        module.register_forward_pre_hook(_before_call)


def unwatch(module: nn.Module) -> None:
    """Look at the unsaved buffers of a module no more: they have their values."""
    if vars(module).pop(WATCHED, None) is not None:
        unhook(module, _before_call)


def _notes(module: nn.Module, foreign: Container[str] = (), *, counts: bool = True) -> dict[str, _Note]:
    """A note of each unsaved buffer, and of each tensor whose dtype the module keeps, as it is now."""
    counts = counts and isinstance(module, ModuleBase)
    held = {**dict(kept_tensors(module)), **_unsaved(module)}.items()
    versions = {name: -1 if name in foreign else version_of(each) if counts else None for name, each in held}
    return {name: _Note(each, versions[name], each.is_meta) for name, each in held}


def written_elsewhere(module: nn.Module, held: Mapping[str, Tensor | None] | None = None) -> set[str]:
    """The buffers on meta that something else than a declared module's own methods has replaced, or written in place."""
    if not isinstance(module, ModuleBase):  # its moves replace them, and say nothing
        return set()
    notes: dict[str, _Note] = vars(module).get(WATCHED, {})
    held = module._buffers if held is None else held
    now = {name: each for name in notes if type(each := held.get(name)) is Tensor and each.is_meta}
    own = {
        name
        for name, each in now.items()
        if notes[name].tensor is each and notes[name].version in (None, version_of(each))
    }
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
        elif not (_waits(old) or new.is_meta):
            new.detach().copy_(old.detach())
    if any(each is not None and _waits(each) for each in (*before.values(), *module._buffers.values())):
        _remake_from_meta(module, changed, written_elsewhere(module, before))
    else:
        unwatch(module)


def _changed(module: nn.Module, before: Mapping[str, Tensor | None]) -> dict[str, tuple[Tensor, Tensor]]:
    """The unsaved buffers of a module as they were before, and as they are now."""
    found = ((name, before.get(name), new) for name, new in _unsaved(module).items())
    return {name: (old, new) for name, old, new in found if old is not None and not hasattr(new, "fake_mode")}


def _remake_from_meta(module: nn.Module, changed: Mapping[str, tuple[Tensor, Tensor]], foreign: set[str]) -> None:
    """Make the changed buffers that were on meta, and note the ones that are on meta now."""
    away = {
        name: old for name, (old, new) in changed.items() if new.is_meta and not _waits(old) and type(old) is Tensor
    }
    if away:  # what the class does not make itself was written by something else
        fixed = fixed_values(module, [*away])
        foreign |= {name for name, value in fixed.items() if not is_close(away[name].cpu(), value.to(away[name].dtype))}
    lost = [
        name for name, (old, new) in changed.items() if _waits(old) and not new.is_meta and type(new) is not Unwritten
    ]
    if lost:
        _remake(module, lost, None, foreign)
    watch(module, foreign)


def _remake(module: nn.Module, names: list[str], device: torch.device | None, foreign: Container[str]) -> None:
    """Make buffers of a module where they are, or on a device. What nothing makes, or is foreign, becomes `Unwritten`."""
    values, error = made_values(module, names)
    with torch.no_grad():
        for name, value in values.items():
            held = module._buffers[name]
            assert held is not None
            if value is None or name in foreign:
                if type(held) in (Tensor, Unwritten) and held.numel():
                    Unwritten.become(held, _never_written(module, name, error, is_foreign=name in foreign))
            elif held.is_meta or held.shape != value.shape:
                module._buffers[name] = value.to(device or held.device, held.dtype)
            else:
                write_whole(held, value)


def unhook(module: nn.Module, hook: Callable[..., object]) -> None:
    for key in [key for key, each in module._forward_pre_hooks.items() if each is hook]:
        del module._forward_pre_hooks[key]


def write_whole(tensor: Tensor, value: Tensor, *, from_first: bool = False) -> None:
    """Write a whole value into a tensor, or the part that this process holds into a DTensor.

    Every process has the same value, or the one `from_first` is sent to the others.
    """
    if hasattr(tensor, "device_mesh"):
        from torch.distributed.tensor import Replicate, distribute_tensor

        placed: Any = tensor
        mesh, value = placed.device_mesh, value.to(tensor.device, tensor.dtype)
        # torch 2.6 has no such option, and sends the value too.
        is_local = not from_first and "src_data_rank" in signature(distribute_tensor).parameters
        # Replicated first, because torch sends no parts of unequal sizes over a mesh of two dimensions.
        whole: Any = distribute_tensor(
            value, mesh, [Replicate()] * mesh.ndim, **({"src_data_rank": None} if is_local else {})
        )
        value = whole.redistribute(mesh, placed.placements)
    tensor.copy_(value)


def _never_written(module: nn.Module, name: str, error: Exception | None = None, *, is_foreign: bool = False) -> str:
    """The message about an unsaved buffer that nothing makes: why, and what to do about it."""
    cls = declared_class(module).__name__
    if is_foreign:
        return (
            f"{cls}.{name} has lost its values: it is in no state dict, and what a constructor or a module around {cls} wrote"
            f" there was gone on meta; let {cls} make them, by buffer(..., value=...) or in {cls}.reset_parameters"
        )
    ended = "" if error is None else f". It ended with {type(error).__name__}: {str(error).partition(chr(10))[0]}"
    return (
        f"{cls}.{name} was never written: it is in no state dict, and no value=, initializer= or reset_parameters of {cls} makes"
        f" all of its values without reading a parameter, a saved buffer or another module's; let one of them do so{ended}"
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
    return {**vars(module), WATCHED: _notes(module, foreign, counts=False)}


def _before_call(module: ModuleBase, args: tuple[object, ...]) -> None:
    """A hook that is called once, by modules that were made on meta."""
    # Dynamo goes through all of `sys.modules` where it traces this, and fails where another import adds to it meanwhile.
    dynamo: Any = torch._dynamo if torch.compiler.is_compiling() else sys.modules.get("torch._dynamo")
    if (dynamo.disable(look) if dynamo else look)(module, args):
        for part in module.modules():  # some may never be called themselves
            unwatch(part)


# What torch.compiler.disable does, without importing the compiler: a compiled call looks at buffers as any other does.
_before_call._torchdynamo_disable = True  # type: ignore[attr-defined] # functions take any attribute


def look(module: nn.Module, given: tuple[object, ...] = (), device: torch.device | None = None) -> bool:
    """Make the unsaved buffers in a module that are on meta, or got memory past every method, where its tensors are, or else on
    `device`; False for a run on meta alone, or with tensors that are lent.
    """
    tensors = (each for each in (*given, *module.parameters(), *module.buffers()) if isinstance(each, Tensor))
    device = next((each.device for each in tensors if not each.is_meta), device)
    if device is None or peek_interpreter_stack() is not None:
        return False
    for part in reversed([*module.modules()]):  # a value may read a child's
        if WATCHED in vars(part):
            _look_at(part, device)
    return not lent()


def look_once(module: ModuleBase, device: torch.device) -> None:
    """`look`, and no more where none of the module's own unsaved buffers is left on meta."""
    look(module, device=device)
    watch(module)


def look_below(module: ModuleBase, device: torch.device | None = None) -> None:
    """`look` at the plain modules that a declared one looks after, and no more where no buffer is left on meta."""
    for part in with_plain_parts(module)[1:]:
        if WATCHED in vars(part):
            look(part, device=device)
            watch(part)


def leave_meta(module: ModuleBase) -> bool:
    """Make the unsaved buffers that are on meta before a move, which would fail there; False where that changes nothing."""
    waiting = [part for part in module.modules() if WATCHED in vars(part) and any_on_meta(_unsaved(part).values())]
    if waiting:
        look(module, device=torch.device("cpu"))
    return bool(waiting) and not any(any_on_meta(_unsaved(part).values()) for part in waiting)


def _look_at(module: Any, device: torch.device) -> None:
    """Make a module's own unsaved buffers on meta, and compare the ones that got memory with the declaration."""
    notes: dict[str, _Note] = vars(module)[WATCHED]
    lent_now = {id(each) for each in lent()}
    usual = (
        (name, each) for name, each in _unsaved(module).items() if type(each) is Tensor and not each.is_inference()
    )
    held = {name: each for name, each in usual if id(each) not in lent_now}
    on_meta = [name for name, each in held.items() if each.is_meta]
    if on_meta:
        _remake(module, on_meta, device, written_elsewhere(module, held))
    given = [name for name, each in held.items() if not each.is_meta and name in notes and _is_given(each, notes[name])]
    values = fixed_values(module, given) if given else {}
    for name in given:
        _compare(module, name, values.get(name), was_on_meta=notes[name].was_on_meta)
    _warn_of_casts(module, notes)
    # Noted anew: a trainer that reads one buffer may still replace the next.
    now = {name: note for name, note in _notes(module).items() if id(note.tensor) not in lent_now}
    vars(module)[WATCHED] = {**notes, **now}


def _compare(module: Any, name: str, value: Tensor | None, *, was_on_meta: bool) -> None:
    """Compare a buffer that got memory with the value of its declaration, and warn: None is no value, or a random one."""
    buffer, label = module._buffers[name], f"{declared_class(module).__name__}.{name}"
    if value is None:
        if was_on_meta and not buffer._version:
            _warn(
                f"{label} was on meta, and has memory now that nobody has written in place:"
                f" {_never_written(module, name)}. It is right only if that was assigned with its values"
            )
    elif value.shape != buffer.shape or is_close(buffer.cpu(), value.to(buffer.dtype)):
        return
    elif buffer._version:  # by somebody who means it, or by DistributedDataParallel, which sends garbage too
        _warn(
            f"{label} was on meta, and was written in place since it got memory, but not with the values that its"
            " declaration gives. They are kept. If nobody meant them, call the module once before it is wrapped"
        )
    else:
        module._buffers[name] = value.to(buffer.device, buffer.dtype)  # somebody else may hold the other
        _warn(
            f"{label} had other values than its declaration gives when the module was first used, as where a trainer"
            " allocates a buffer of a model on meta and writes nothing; it has the declared ones now. To give it values of"
            " your own, write them in place once it has memory, or assign them after the first call"
        )


def _warn_of_casts(module: nn.Module, notes: Mapping[str, _Note]) -> None:
    """Warn where a loader has changed a dtype that the module keeps."""
    for name, tensor in kept_tensors(module):
        if name in notes and notes[name].tensor.dtype != tensor.dtype:
            _warn(
                f"{declared_class(module).__name__}.{name} is declared with keep_dtype=True, was {notes[name].tensor.dtype} on"
                f" meta, and has been loaded as {tensor.dtype} past every method of the module; cast the model on meta by"
                " .to(), and let the loader take its dtypes"
            )


def _is_given(tensor: Tensor, note: _Note) -> bool:
    """Return whether a buffer is another tensor than the module's own code has left, or has memory that was swapped in."""
    return tensor is not note.tensor or note.was_on_meta


def is_lent() -> bool:
    """Return whether `functional_call` runs, which lends tensors to modules for one call."""
    return any(True for _ in _lending())


def lent() -> list[Tensor]:
    """The tensors that it lends."""
    return [each for given in _lending() for each in given.values()]


def _lending() -> Iterator[dict[str, Tensor]]:
    """What each `functional_call` that runs was given."""
    for frame, _ in walk_stack(sys._getframe()):
        if frame.f_code.co_name == "_functional_call":
            yield frame.f_locals.get("parameters_and_buffers", {})


def _warn(message: str) -> None:
    """Warn at the statement that calls, reads or copies the module."""
    names = (frame.f_globals.get("__name__", "") for frame, _ in walk_stack(sys._getframe()))
    inside = ("torch", "qten_gen", "copy", "contextlib")
    level = next((level for level, name in enumerate(names, 1) if name.partition(".")[0] not in inside), 1)
    warnings.warn(message, stacklevel=level)
