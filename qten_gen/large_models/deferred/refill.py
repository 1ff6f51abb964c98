"""`refill`: what no checkpoint holds, from the recording, after a trainer has put other tensors into a module."""

from __future__ import annotations

import weakref
from collections.abc import Collection, Sequence
from copy import copy
from typing import Any, TypeAlias, TypeVar, cast

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensor
from torch.nn.parameter import is_lazy

from .recording import Recorder
from .tape import Slot, Tape

M = TypeVar("M", bound=nn.Module)
_Ties: TypeAlias = list[list[tuple[weakref.ref[nn.Module], str]]]
_KNOWN: dict[int, tuple[Tape, dict[str, Slot | Tensor], _Ties]] = {}
"""By the id of a living module: its unsaved buffers, and all parameters of its recording that have several names."""


def remember(modules: Sequence[nn.Module], recorder: Recorder) -> None:
    """Keep what `refill` needs of modules that were just made: of the recording, only the operations of unsaved buffers."""
    places: dict[int, list[tuple[weakref.ref[nn.Module], str]]] = {}
    tape, slots, ties = copy(recorder.tape), list[Slot](), _Ties()
    for module in modules:
        buffers: dict[str, Slot | Tensor] = {}
        for name, own in _unsaved(module):
            if not isinstance(own, FakeTensor) or own.fake_mode is recorder.mode:
                buffers[name] = recorder.slot(own) if isinstance(own, FakeTensor) else own.clone()
        slots += [value for value in buffers.values() if isinstance(value, Slot)]
        for name, parameter in module._parameters.items():
            places.setdefault(id(parameter), []).append((weakref.ref(module), name))
        if _KNOWN.setdefault(id(module), (tape, buffers, ties))[0] is tape:  # and of no earlier recording
            weakref.finalize(module, _KNOWN.pop, id(module), None).atexit = False
    ties += [group for key, group in places.items() if key != id(None) and len(group) > 1]
    tape.operations = tape.needed(slots, ())


def refill(module: M) -> M:
    """Give a module that `deferred_init` made its unsaved buffers and its ties again, and return it.

    Call it when a trainer has loaded a checkpoint, or moved the module. Buffers outside the state dict get the values of the
    constructor, in their present dtype, and names of one parameter are one again. All else stays, and torch's generators too.

    >>> tied = deferred_init(lambda: nn.ParameterList(2 * [nn.Parameter(torch.zeros(2))]))
    >>> _ = tied.load_state_dict({"0": torch.ones(2), "1": torch.ones(2)}, assign=True)
    >>> tied[0] is tied[1], refill(tied)[0] is tied[1]
    (False, True)

    Raises:
        ValueError: no recording knows the module or an unsaved buffer, or ties differ or are sharded apart. Nothing has changed.
    """
    parts = {id(part): part for part in module.modules()}
    known = {at: _KNOWN[at] for at in parts if at in _KNOWN}
    if not known:
        got = f"got {type(module).__name__}, which no recording knows"
        raise ValueError(f"refill expected a module that deferred_init made, {got}; refill it before you copy it")
    found: list[tuple[nn.Module, str, Tensor, Tensor]] = []
    for at, part in parts.items():
        for name, now in _unsaved(part):
            value = known[at][1].get(name) if at in known else None
            value = known[at][0].values([value])[0] if isinstance(value, Slot) else value
            if value is None or value.shape != now.shape:
                where = f"{type(part).__name__}.{name} of shape {tuple(now.shape)} is in no state dict, and"
                made = "did not make it" if value is None else f"made one of shape {tuple(value.shape)}"
                raise ValueError(f"{where} deferred_init {made}; fill it, and refill the other modules")
            found.append((part, name, now, value))
    ties = {id(group): group for each in known.values() for group in each[2]}.values()
    held = [[(parts[id(ref())], name) for ref, name in group if id(ref()) in parts] for group in ties]
    present = [[(part, name) for part, name in group if part._parameters.get(name) is not None] for group in held]
    tied = [(group, _tied(group, parts.values())) for group in present if group]
    for part, name, now, value in found:
        if _waits(now) or 0 in now.stride():
            part._buffers[name] = value.to(value.device if _waits(now) else now.device, now.dtype)
        else:
            now.detach().copy_(value)
    for group, parameter in tied:
        for part, name in group:
            part._parameters[name] = parameter
    return module


def _unsaved(module: nn.Module) -> list[tuple[str, Tensor]]:
    found = ((name, module._buffers.get(name)) for name in module._non_persistent_buffers_set)
    return [(name, own) for name, own in found if own is not None and not is_lazy(own)]


def _waits(tensor: Tensor) -> bool:
    return tensor.is_meta or isinstance(tensor, FakeTensor)


def _tied(places: list[tuple[nn.Module, str]], modules: Collection[nn.Module]) -> nn.Parameter | None:
    """The parameter that all places of a tie get: the one that was loaded, or the first."""
    states = [cast(Any, each)._get_fsdp_state() for each in modules if hasattr(each, "_get_fsdp_state")]
    infos = [each._module_info for state in states for group in state._fsdp_param_groups for each in group.fsdp_params]
    sharded = [info.module._parameters[info.param_name] for info in infos if (info.module, info.param_name) in places]
    now = [own for part, name in places if (own := part._parameters[name]) is not None]
    real = [own for own in now if not _waits(own)]
    ready = [own for own in real if own._version] or real  # loading writes, `to_empty` does not
    first = (sharded or ready or now)[0]
    if len(sharded) > 1 or any(own is not first and (_waits(first) or not torch.equal(own, first)) for own in ready):
        names = " and ".join(f"{type(part).__name__}.{name}" for part, name in places)
        raise ValueError(f"{names} were tied, and differ: refill before fully_shard, after a load without assign=True")
    return first
