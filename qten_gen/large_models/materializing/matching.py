"""Which tensor of a checkpoint belongs to which tensor of a module.

Names mean what they mean to `load_state_dict`: a tensor that has several may be stored under any of them, and `migrate` of
declared modules brings old names up to date. A checkpoint may lack names, but one that the module does not have is an error.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import torch
from torch import Tensor, nn

from ...runtime.module.core.module_base import ModuleBase
from ...runtime.module.core.state_dict_versions import migrate, migrates
from .checkpoint_files import METADATA, distributed_folder, safetensors_file, safetensors_folder, torch_file
from .checkpoints import Checkpoint, CheckpointError, StoredTensor, beginning, of_mapping, read
from .survey import HeldTensor, Registry

T = TypeVar("T")

StateDict = Mapping[str, Tensor] | str | os.PathLike[str]
"""Tensors by name, or the path of a file or folder that has them."""

_SHOWN = 20
_ABOVE = ("model", "state_dict", "model_state_dict", "module")
"""Names under which programs keep the state dict of a model beside other things."""

_WRAPPERS = re.compile(r"\b(?:_orig_mod|_checkpoint_wrapped_module|_fsdp_wrapped_module)\.")

_HOOKS_OF = ("torch.", "qten_gen.")


@dataclass(frozen=True, slots=True)
class Match:
    """A tensor of a checkpoint that belongs to one of the module."""

    name: str
    """Its name in the checkpoint."""
    stored: StoredTensor


def opened(given: StateDict) -> Checkpoint:
    """The checkpoint that the user names.

    Raises:
        CheckpointError: nothing is there, or it is not a checkpoint.
        TypeError: it is neither a mapping nor a path.
    """
    if isinstance(given, Mapping):
        return of_mapping(given)
    if not isinstance(given, (str, os.PathLike)):
        raise TypeError(f"materialize(): state_dict is a mapping or a path, got {type(given).__name__}")
    path = os.fspath(given)
    if os.path.isdir(path):
        if os.path.exists(os.path.join(path, METADATA)):
            return distributed_folder(path)
        if any(name.endswith(".safetensors") for name in os.listdir(path)):
            return safetensors_folder(path)
        raise CheckpointError(
            f"{path}: expected files of safetensors or a folder of torch.distributed.checkpoint, got a folder with neither"
        )
    if not os.path.exists(path):
        raise CheckpointError(f"{path}: there is no such file or folder")
    return safetensors_file(path) if path.endswith(".safetensors") else torch_file(path)


def matched(root: nn.Module, held: Sequence[HeldTensor], checkpoint: Checkpoint) -> dict[int, Match]:
    """The matches in the checkpoint for the tensors of a module, by the id of each tensor.

    Raises:
        CheckpointError: the checkpoint has names that the module does not have, or tensors of other shapes, or a class loads its
            state in a way of its own. All findings are listed.
    """
    names = {name: each for each in held for name in _names(each)}
    found, originals = _migrated(root, _below(checkpoint, names))
    problems = list(_own_ways(root))
    for name, stored in found.tensors.items():
        if name not in names:
            problems.append(f"{name}: the module has no parameter or persistent buffer of this name ({stored.origin})")
            continue
        tensor = names[name].tensor
        if tuple(tensor.shape) != stored.shape:
            problems.append(f"{name}: expected shape {list(tensor.shape)}, got {list(stored.shape)} ({stored.origin})")
        elif stored.dtype.is_complex and not tensor.is_complex():
            problems.append(f"{name}: expected {tensor.dtype}, got {stored.dtype}, which has imaginary parts")
    problems += [f"{name}: expected a tensor, got {kind}" for name, kind in found.others.items()]
    problems += _disagreements(held, found.tensors)
    if problems:
        more = [f"and {len(problems) - _SHOWN} others"] if len(problems) > _SHOWN else []
        raise CheckpointError(
            "\n    ".join([f"materialize(): {checkpoint.where} does not fit the module:", *problems[:_SHOWN], *more])
        )
    # As in load_state_dict, the last of several names counts.
    return {
        id(names[name].tensor): Match(originals.get(name, name), found.tensors[name])
        for name in names
        if name in found.tensors
    }


def _disagreements(held: Sequence[HeldTensor], stored: Mapping[str, StoredTensor]) -> Iterator[str]:
    """Tied names whose values in the checkpoint begin differently: it is of a model without the tie, and one would be lost."""
    for each in held:
        first, *others = [name for name in _names(each) if name in stored] or [""]
        for name in others:
            if stored[name].dtype == stored[first].dtype and beginning(stored[name]) != beginning(stored[first]):
                yield f"{name}: the module ties it to {first}, and it has other values ({stored[name].origin})"


def without_wrappers(name: str) -> str:
    """A name without the steps that `torch.compile` and activation checkpointing add."""
    return _WRAPPERS.sub("", name)


def _names(held: HeldTensor) -> Iterator[str]:
    """The names of a tensor in a state dict."""
    for home in held.homes:
        is_buffer = home.registry is Registry.BUFFERS and home.name not in home.module._non_persistent_buffers_set
        if home.registry is Registry.PARAMETERS or is_buffer:
            yield without_wrappers(home.qualified)


def _below(checkpoint: Checkpoint, names: Mapping[str, object]) -> Checkpoint:
    """The checkpoint, or what it has below a name such as `model`, if none of the module's names is at its top."""
    tensors = {without_wrappers(name): stored for name, stored in checkpoint.tensors.items()}
    others = {without_wrappers(name): kind for name, kind in checkpoint.others.items()}
    above = ""
    if names.keys().isdisjoint(tensors):
        above = next((f"{key}." for key in _ABOVE if any(f"{key}.{name}" in tensors for name in names)), "")
    return replace(checkpoint, tensors=_without(above, tensors), others=_without(above, others))


def at_prefix(checkpoint: Checkpoint, prefix: str) -> Checkpoint:
    """What a checkpoint of a larger module has for the part of it that a prefix names.

    Raises:
        CheckpointError: it has nothing.
    """
    tensors = _without(prefix, checkpoint.tensors)
    if checkpoint.tensors and not tensors:
        raise CheckpointError(f"materialize(): no name in {checkpoint.where} begins with {prefix!r}, the prefix")
    versions = _without(prefix, {f"{name}.": each for name, each in checkpoint.versions.items()})
    return replace(
        checkpoint,
        tensors=tensors,
        others=_without(prefix, checkpoint.others),
        versions={name.removesuffix("."): each for name, each in versions.items()},
    )


def _without(prefix: str, entries: Mapping[str, T]) -> dict[str, T]:
    """The entries whose names begin with a prefix, without it."""
    return {name.removeprefix(prefix): each for name, each in entries.items() if name.startswith(prefix)}


def _migrated(root: nn.Module, checkpoint: Checkpoint) -> tuple[Checkpoint, dict[str, str]]:
    """The checkpoint with the names of today, and the name that each renamed tensor has in it."""
    tensors, renamed = dict(checkpoint.tensors), dict[str, str]()
    for path, module in root.named_modules():
        if not isinstance(module, ModuleBase):
            continue
        cls = type(module)
        if not migrates(cls):
            continue
        prefix = without_wrappers(f"{path}.") if path else ""
        metadata = checkpoint.versions.get(prefix[:-1], {})
        # Names are moved without reading anything; a class that computes tensors gets the values of the module's.
        stand_ins = {name: torch.empty(each.shape, dtype=each.dtype, device="meta") for name, each in tensors.items()}
        known = {id(tensor): name for name, tensor in stand_ins.items()}
        try:
            migrate(cls, stand_ins, prefix, metadata)
            computes = any(id(tensor) not in known for tensor in stand_ins.values())
        except (RuntimeError, NotImplementedError):
            computes = True
        if computes:
            stand_ins = {name: _values(each) if name.startswith(prefix) else _META for name, each in tensors.items()}
            known = {id(tensor): name for name, tensor in stand_ins.items() if tensor is not _META}
            migrate(cls, stand_ins, prefix, metadata)
        before = tensors
        tensors = {}
        for name, tensor in stand_ins.items():
            old = name if tensor is _META else known.get(id(tensor))
            if old is None:
                made = of_mapping({name: tensor}, f"{cls.__name__}.migrate")
                tensors[name] = made.tensors[name]
            else:
                tensors[name] = before[old]
                if old != name:
                    renamed[name] = renamed.pop(old, old)
    return Checkpoint(checkpoint.where, tensors, checkpoint.others, checkpoint.versions), renamed


_META = torch.empty(0, device="meta")
"""Stands for the tensors of other modules, which `migrate` does not see."""


def _values(stored: StoredTensor) -> Tensor:
    values = torch.empty(stored.shape, dtype=stored.dtype)
    read(stored, values)
    return values


def _own_ways(root: nn.Module) -> Iterator[str]:
    """Modules that change what is loaded, by code that is run in `load_state_dict` only."""
    for path, module in root.named_modules():
        cls = type(module)
        where = f"{path} ({cls.__name__})" if path else cls.__name__
        loading = cls._load_from_state_dict
        if not loading.__module__.startswith(_HOOKS_OF):
            yield f"{where}: {loading.__qualname__} is not run; materialize without state_dict, and call load_state_dict"
        for hook in module._load_state_dict_pre_hooks.values():
            function = getattr(hook, "hook", hook)
            if not (getattr(function, "__module__", None) or "").startswith(_HOOKS_OF):
                name = getattr(function, "__qualname__", repr(function))
                yield f"{where}: the hook {name} is not run; materialize without state_dict, and call load_state_dict"
