"""The tensors of a checkpoint, and which of a module each one belongs to.

A checkpoint is a mapping of tensors, or files of safetensors, which are mapped into memory: only pages that are copied are read.
Names mean what they mean to `load_state_dict`: a tensor that has several may be stored under any of them, and `migrate` of
declared modules brings old names up to date. A checkpoint may lack names, but one that the module does not have is an error.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias, cast

import torch
from torch import Tensor, nn

from ...runtime.module.declared_module import migrate
from ...runtime.module.module_base import ModuleBase
from .placements import is_distributed, write_part
from .survey import HeldTensor, Registry, Tree, without_wrappers

StateDict: TypeAlias = Mapping[str, Tensor] | str | os.PathLike[str]
"""Tensors by name, or the path of a file of safetensors or of a folder with such files."""

_SHOWN = 20


class CheckpointError(ValueError):
    """A checkpoint cannot be read, or does not fit the module that is materialised. The message lists every finding.

    >>> try:
    ...     Linear.on_meta(2, 3).materialize("cpu", state_dict={"wieght": torch.ones(2, 3)})
    ... except CheckpointError as error:
    ...     print(error)
    materialize(): state_dict does not fit the module:
        wieght: the module has no parameter or persistent buffer of this name
    """


class Matched(NamedTuple):
    """The values that a checkpoint has for the tensors of a module, and the arguments of `set_extra_state`."""

    tensors: Mapping[HeldTensor, Tensor]
    extra_states: Mapping[nn.Module, object]


def matched(tree: Tree, given: StateDict, prefix: str) -> Matched:
    """The values of a checkpoint by where they belong in the module; with a prefix, of the names below it.

    Raises:
        CheckpointError: the checkpoint has names that the module does not have, or tensors of other shapes, or a class loads its
            state in a way of its own. All findings are listed.
    """
    where = "state_dict" if isinstance(given, Mapping) else os.fspath(given)
    versions: Mapping[str, Mapping[str, object]] = getattr(given, "_metadata", {})
    entries = {without_wrappers(name): value for name, value in opened(given).items()}
    found = {name.removeprefix(prefix): value for name, value in entries.items() if name.startswith(prefix)}
    if entries and not found:
        raise CheckpointError(f"materialize(): no name in {where} begins with {prefix!r}, the prefix")
    for path, module in tree.root.named_modules():
        if isinstance(module, ModuleBase):
            below = f"{without_wrappers(path)}." if path else ""
            migrate(type(module), found, below, versions.get((prefix + below).removesuffix("."), {}))
    extra = dict(_extra_states(tree.root, found))
    names = dict(_names(tree))
    problems = [*_own_ways(tree.root), *_misfits(names, found), *_broken_ties(names, found)]
    if problems:
        shown = [*problems[:_SHOWN], *(["..."] if problems[_SHOWN:] else [])]
        raise CheckpointError("\n    ".join([f"materialize(): {where} does not fit the module:", *shown]))
    # As in load_state_dict, the last of several names counts.
    return Matched({held: found[name].detach() for name, held in names.items() if name in found}, extra)


def opened(given: StateDict) -> Mapping[str, Tensor]:
    """The tensors of a checkpoint by name; tensors in files are mapped into memory.

    Raises:
        CheckpointError: it is no file of safetensors, or no folder of them.
        TypeError: it is neither a mapping nor a path.
    """
    if isinstance(given, Mapping):
        return given
    if not isinstance(given, (str, os.PathLike)):
        raise TypeError(f"materialize(): state_dict is a mapping or a path, got {type(given).__name__}")
    path = os.fspath(given)
    if os.path.isdir(path):
        return _folder(path)
    if not path.endswith(".safetensors"):
        raise CheckpointError(
            f"{path}: expected a file of safetensors or a folder of them; open other checkpoints yourself, and give the mapping:"
            " torch.load(path, mmap=True, weights_only=True)"
        )
    return _file(path)


def _folder(path: str) -> dict[str, Tensor]:
    """The tensors of the files that the index of a folder names; of all files of safetensors in it if there is no index."""
    index, wanted = os.path.join(path, "model.safetensors.index.json"), None
    files = sorted(name for name in os.listdir(path) if name.endswith(".safetensors"))
    if os.path.exists(index):
        with open(index, encoding="utf-8") as file:
            wanted = cast("dict[str, str]", json.load(file)["weight_map"])
        files = sorted(set(wanted.values()))
    if not files:
        raise CheckpointError(
            f"{path}: there are no files of safetensors in it; torch.distributed.checkpoint.load reads a folder that"
            " torch.distributed.checkpoint.save wrote into module.state_dict(), after materialize()"
        )
    found: dict[str, Tensor] = {}
    for name in files:
        if os.path.basename(name) != name:
            raise CheckpointError(f"{index}: it names a file outside of the folder, {name!r}")
        for key, tensor in _file(os.path.join(path, name)).items():
            if wanted is not None and wanted.get(key) != name:
                continue
            if key in found:
                raise CheckpointError(f"{path}: {name} has {key!r}, and another file too")
            found[key] = tensor
    if wanted is not None and (lost := sorted(wanted.keys() - found.keys())):
        raise CheckpointError(f"{index}: {wanted[lost[0]]} does not have {', '.join(map(repr, lost))}")
    return found


def _file(path: str) -> dict[str, Tensor]:
    """The tensors of a file, mapped into memory. Changes to them do not reach the file."""
    try:
        library: Any = import_module("safetensors")  # a package that may not be there
    except ImportError:
        raise ImportError("materialize(): safetensors is not installed; pip install safetensors") from None
    try:
        with library.safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}
    except (OSError, library.SafetensorError) as error:
        raise CheckpointError(f"{path}: expected a file of safetensors: {error}") from error


def _names(tree: Tree) -> Iterator[tuple[str, HeldTensor]]:
    """The tensors by their names in a state dict, in its order; a module that is registered twice has two paths there."""
    for path, module in tree.root.named_modules(remove_duplicate=False):
        for home, held in tree.of(module):
            is_buffer = home.registry is Registry.BUFFERS and home.name not in module._non_persistent_buffers_set
            if home.registry is Registry.PARAMETERS or is_buffer:
                yield without_wrappers(f"{path}.{home.name}").removeprefix("."), held


def _extra_states(root: nn.Module, found: dict[str, Any]) -> Iterator[tuple[nn.Module, object]]:
    """Take the states beside tensors out of a checkpoint, for the modules whose classes read them."""
    for path, module in root.named_modules(remove_duplicate=False):
        name = without_wrappers(f"{path}._extra_state").removeprefix(".")
        if name in found and type(module).set_extra_state is not nn.Module.set_extra_state:
            yield module, found.pop(name)


def _misfits(names: Mapping[str, HeldTensor], found: Mapping[str, object]) -> Iterator[str]:
    """The entries of a checkpoint that are no values for a tensor of the module."""
    for name, value in found.items():
        if name.endswith("_extra_state"):
            yield f"{name}: the module has no set_extra_state"
        elif not isinstance(value, Tensor):
            inside = "; give the state dict that is in it" if isinstance(value, Mapping) else ""
            yield f"{name}: expected a tensor, got {type(value).__name__}{inside}"
        elif value.is_meta:
            yield f"{name}: it is on meta and has no values"
        elif name not in names:
            yield f"{name}: the module has no parameter or persistent buffer of this name"
        elif (wanted := names[name].tensor).shape != value.shape:
            yield f"{name}: expected shape {list(wanted.shape)}, got {list(value.shape)}"
        elif value.is_complex() and not wanted.is_complex():
            yield f"{name}: expected {wanted.dtype}, got {value.dtype}, which has imaginary parts"


def _broken_ties(names: Mapping[str, HeldTensor], found: Mapping[str, object]) -> Iterator[str]:
    """Tied names whose values in the checkpoint begin differently: it is of a model without the tie, and one would be lost."""
    stored: dict[HeldTensor, tuple[str, Tensor]] = {}
    for name, held in names.items():
        if isinstance(value := found.get(name), Tensor):
            first, other = stored.setdefault(held, (name, value))
            if value is not other and value.dtype == other.dtype and beginning(value) != beginning(other):
                yield f"{name}: the module ties it to {first}, and it has other values"


def _own_ways(root: nn.Module) -> Iterator[str]:
    """Modules that change what is loaded, by code that is run in `load_state_dict` only."""
    for path, module in root.named_modules():
        cls = type(module)
        hooks = [getattr(hook, "hook", hook) for hook in module._load_state_dict_pre_hooks.values()]
        for function in (cls._load_from_state_dict, *hooks):
            if not (getattr(function, "__module__", None) or "").startswith(("torch.", "qten_gen.")):
                name = getattr(function, "__qualname__", repr(function))
                where = f"{path} ({cls.__name__})" if path else cls.__name__
                yield f"{where}: {name} is not run; materialize without state_dict, and call load_state_dict"


def beginning(value: Tensor) -> str:
    """The bytes of some values, so that processes can compare what each is about to load a part of; little is read."""
    if is_distributed(value) or value.is_meta or not value.numel():
        return "in parts"
    row = value.detach()[(0,) * (value.dim() - 1)] if value.dim() else value.detach().reshape(1)
    return f"{value.dtype} {bytes(row[:64].cpu().contiguous().view(torch.uint8).numpy()).hex()}"


def load(source: Tensor, into: Tensor) -> None:
    """Copy values into a tensor on any device, of any dtype, or into the part of a DTensor that this process holds.

    Processes that hold parts of a `source` have to load the same tensors in the same order.
    """
    with torch.no_grad():
        if is_distributed(source):
            if is_distributed(into) and source.device_mesh == into.device_mesh:
                into.to_local().copy_(source.redistribute(placements=into.placements).to_local())
                return
            source = source.full_tensor()
        write_part(into, source)
