"""Where tensors are to be, and which ones a checkpoint has: what the user asks for, checked before anything is made.

Names mean what they mean to `load_state_dict`: a tensor that has several may be stored under any of them, and `migrate` of
declared modules brings old names up to date. A checkpoint may lack names, but one that the module does not have is an error.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import torch
from torch import Tensor, nn

from ...runtime.module.declared_module import migrate, migrates
from ...runtime.module.module_base import ModuleBase
from ..sharding.agreement import description, meshes_of
from ..sharding.placements import chosen, on_mesh
from .checkpoint_files import Checkpoint, CheckpointError, StoredTensor, beginning, of_mapping, opened, read
from .survey import HeldTensor, Registry, Tree, without_wrappers

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh
    from torch.distributed.tensor.placement_types import Placement

    from ..sharding.placements import Placements

T = TypeVar("T")

StateDict = Mapping[str, Tensor] | str | os.PathLike[str]
"""Tensors by name, or the path of a file or folder that has them."""

_SHOWN = 20
_ABOVE = ("model", "state_dict", "model_state_dict", "module")
"""Names under which programs keep the state dict of a model beside other things."""

_HOOKS_OF = ("torch.", "qten_gen.")
_EXTRA = "_extra_state"
"""The name of what `get_extra_state` gives, in a state dict."""


@dataclass(frozen=True, slots=True)
class Match:
    """A tensor of a checkpoint that belongs to one of the module."""

    name: str
    """Its name in the checkpoint."""
    stored: StoredTensor


@dataclass(frozen=True, slots=True)
class Sources:
    """The user's requests for the tensors on meta."""

    mesh: DeviceMesh | None
    placed: Mapping[HeldTensor, tuple[Placement, ...] | None]
    """The placements of tensors that become DTensors; None for tensors that stay plain. DTensors are left out."""
    matches: Mapping[HeldTensor, Match]
    """The matches in the checkpoint."""
    extra: Sequence[tuple[nn.Module, object]]
    """The extra state that the checkpoint has of modules."""
    meshes: Sequence[DeviceMesh]
    """All meshes that tensors are placed on. Their processes have to agree on a seed, and on the model."""

    def allocated(self, held: HeldTensor, like: Tensor, device: torch.device, dtype: torch.dtype | None) -> Tensor:
        """Memory for the values of a tensor, or for the part of them that this process holds.

        Args:
            held: The tensor on meta.
            like: A tensor with the shape, strides and dtype that it is to have, on any device.
            device: The device of the values, also where a DTensor's mesh has another.
            dtype: Another dtype, or None.
        """
        placements = self.placed.get(held)
        with torch.no_grad():
            if type(held.tensor) not in (Tensor, nn.Parameter) or (placements is not None and self.mesh is not None):
                placed = (
                    held.tensor if placements is None or self.mesh is None else on_mesh(like, self.mesh, placements)
                )
                return torch.empty_like(placed, device=device, dtype=dtype or like.dtype, requires_grad=False)
            return torch.empty_strided(like.shape, like.stride(), dtype=dtype or like.dtype, device=device)

    def described(self, tree: Tree) -> list[str]:
        """The facts that have to be the same in all processes of the meshes."""
        by_name = {held.homes[0].qualified: held for held in tree.held}
        placements = {name: self.placed.get(held) for name, held in by_name.items()}
        loaded = [f"{match.name}: from the checkpoint, {beginning(match.stored)}" for match in self.matches.values()]
        tensors = {name: held.tensor for name, held in by_name.items()}
        return [*description(tensors, placements), *loaded]

    def load(self, held: HeldTensor, value: Tensor) -> int:
        """Write the values that the checkpoint has of a tensor into `value`; the bytes that were read.

        All processes that hold parts of a checkpoint's DTensors have to load the same tensors in the same order.
        """
        return read(self.matches[held].stored, value)


def sources(
    tree: Tree, mesh: DeviceMesh | None, placements: Placements | None, state_dict: StateDict | None, prefix: str
) -> Sources:
    """What the user asks for, for all tensors of a module; with a prefix, only the names below it count in the state dict.

    Raises:
        TypeError: there are placements without a mesh.
        ValueError: placements or the checkpoint do not fit the module. All findings are listed.
    """
    if placements is not None and mesh is None:
        raise TypeError("materialize(): placements are on a mesh; give mesh= too")
    placed: dict[HeldTensor, tuple[Placement, ...] | None] = {}
    if mesh is not None:
        registered = {held.homes[0].qualified: held for held in tree.held if held.is_registered and held.tensor.is_meta}
        names = {name: [home.qualified for home in held.homes] for name, held in registered.items()}
        found = chosen(names, {name: held.tensor for name, held in registered.items()}, mesh, placements)
        placed = {registered[name]: value for name, value in found.items()}
    matches: dict[HeldTensor, Match] = {}
    extra: list[tuple[nn.Module, object]] = []
    if state_dict is not None:
        matches, extra = matched(tree, _at_prefix(opened(state_dict), prefix))
    return Sources(mesh, placed, matches, extra, meshes_of((held.tensor for held in tree.held), mesh))


def matched(tree: Tree, checkpoint: Checkpoint) -> tuple[dict[HeldTensor, Match], list[tuple[nn.Module, object]]]:
    """The matches in a checkpoint for the tensors of a module, and the extra state of modules.

    Raises:
        CheckpointError: the checkpoint has names that the module does not have, or tensors of other shapes, or a class loads its
            state in a way of its own. All findings are listed.
    """
    names = {name: held for held in tree.held for name in _names(held)}
    modules = {
        without_wrappers(f"{path}.{_EXTRA}".lstrip(".")): module
        for path, module in tree.root.named_modules()
        if type(module).set_extra_state is not nn.Module.set_extra_state
    }
    found, originals = _migrated(tree.root, _below(checkpoint, {**names, **modules}))
    problems = list(_own_ways(tree.root))
    extra = [(modules[name], value) for name, value in found.others.items() if name in modules]
    for name, stored in found.tensors.items():
        if name in modules:
            extra.append((modules[name], _values(stored)))
        elif name not in names:
            problems.append(f"{name}: the module has no parameter or persistent buffer of this name ({stored.origin})")
        elif tuple(names[name].tensor.shape) != stored.shape:
            shape = list(names[name].tensor.shape)
            problems.append(f"{name}: expected shape {shape}, got {list(stored.shape)} ({stored.origin})")
        elif stored.dtype.is_complex and not names[name].tensor.is_complex():
            problems.append(
                f"{name}: expected {names[name].tensor.dtype}, got {stored.dtype}, which has imaginary parts"
            )
    for name, value in found.others.items():
        if _EXTRA in name and value == b"":
            problems.append(f"{name}: extra state in a folder is not read; call load_state_dict after materialize()")
        elif name not in modules:
            problems.append(f"{name}: expected a tensor, got {type(value).__name__}")
    problems += _disagreements(tree.held, found.tensors)
    if problems:
        more = [f"and {len(problems) - _SHOWN} others"] if len(problems) > _SHOWN else []
        raise CheckpointError(
            "\n    ".join([f"materialize(): {checkpoint.where} does not fit the module:", *problems[:_SHOWN], *more])
        )
    # As in load_state_dict, the last of several names counts.
    matches = {
        held: Match(originals.get(name, name), found.tensors[name])
        for name, held in names.items()
        if name in found.tensors
    }
    return matches, extra


def _disagreements(held: Iterable[HeldTensor], stored: Mapping[str, StoredTensor]) -> Iterator[str]:
    """Tied names whose values in the checkpoint begin differently: it is of a model without the tie, and one would be lost."""
    for each in held:
        first, *others = [name for name in _names(each) if name in stored] or [""]
        for name in others:
            if stored[name].dtype == stored[first].dtype and beginning(stored[name]) != beginning(stored[first]):
                yield f"{name}: the module ties it to {first}, and it has other values ({stored[name].origin})"


def _names(held: HeldTensor) -> Iterator[str]:
    """The names of a tensor in a state dict."""
    for home in held.homes:
        is_buffer = home.registry is Registry.BUFFERS and home.name not in home.module._non_persistent_buffers_set
        if home.registry is Registry.PARAMETERS or is_buffer:
            yield without_wrappers(home.qualified)


def _below(checkpoint: Checkpoint, names: Mapping[str, object]) -> Checkpoint:
    """The checkpoint, or what it has below a name such as `model`, if none of the module's names is at its top."""
    tensors = {without_wrappers(name): stored for name, stored in checkpoint.tensors.items()}
    others = {without_wrappers(name): value for name, value in checkpoint.others.items()}
    above = ""
    if names.keys().isdisjoint(tensors):
        above = next((f"{key}." for key in _ABOVE if any(f"{key}.{name}" in tensors for name in names)), "")
    return replace(checkpoint, tensors=_without(above, tensors), others=_without(above, others))


def _at_prefix(checkpoint: Checkpoint, prefix: str) -> Checkpoint:
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
