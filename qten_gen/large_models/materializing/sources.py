"""Where each tensor of a module is to be and gets its values from: placements and checkpoint, checked before anything is made.

`materialize` asks for `sources` first. Then it gives each tensor on meta memory (`Sources.allocated`), and values: those of the
checkpoint (`Sources.load`), or those of its initialiser (`filling.fill`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from ...runtime.module.core.module_base import ModuleBase
from ..sharding.agreement import description, meshes_of
from ..sharding.placements import chosen, on_mesh
from .checkpoints import beginning, read
from .matching import Match, StateDict, at_prefix, matched, opened
from .placing import allocated, local_part
from .report import MaterializedTensor, MaterializeReport
from .survey import HeldTensor

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh
    from torch.distributed.tensor.placement_types import Placement

    from ..sharding.placements import Placements


@dataclass(frozen=True, slots=True)
class Sources:
    """The user's requests, by the ids of the tensors on meta."""

    mesh: DeviceMesh | None
    placed: Mapping[int, tuple[Placement, ...] | None]
    """The placements of tensors that become DTensors; None for tensors that stay plain. DTensors are left out."""
    matches: Mapping[int, Match]
    """The matches in the checkpoint."""
    meshes: Sequence[DeviceMesh]
    """All meshes that tensors are placed on. Their processes have to agree on a seed, and on the model."""

    def allocated(self, held: HeldTensor, like: Tensor, device: torch.device, dtype: torch.dtype | None) -> Tensor:
        """Memory for the values of a tensor, or for the part of them that this process holds.

        Args:
            held: The tensor on meta.
            like: A tensor with the shape, strides and dtype that it is to have, on any device.
            device: The device of the values.
            dtype: Another dtype, or None.
        """
        placements = self.placed.get(id(held.tensor))
        if placements is not None and self.mesh is not None:
            return allocated(on_mesh(like, self.mesh, placements), device, dtype)
        is_like = held.tensor.shape != like.shape or held.tensor.stride() != like.stride()
        return allocated(like if is_like else held.tensor, device, dtype or like.dtype)

    def described(self, root: nn.Module, held: Sequence[HeldTensor]) -> list[str]:
        """The facts that have to be the same in all processes of the meshes."""
        by_name = {each.homes[0].qualified: each.tensor for each in held}
        placements = {name: self.placed.get(id(tensor)) for name, tensor in by_name.items()}
        loaded = [f"{match.name}: from the checkpoint, {beginning(match.stored)}" for match in self.matches.values()]
        return [*_arguments(root), *description(by_name, placements), *loaded]

    def load(self, held: HeldTensor, value: Tensor) -> int:
        """Write the values that the checkpoint has of a tensor into `value`; the bytes that were read.

        All processes that hold parts of a checkpoint's DTensors have to load the same tensors in the same order.
        """
        return read(self.matches[id(held.tensor)].stored, value)


def _arguments(root: nn.Module) -> Iterator[str]:
    """The constructor arguments of declared modules of which every process has the same text."""
    for path, module in root.named_modules():
        for name in type(module)._config if isinstance(module, ModuleBase) else ():
            value = getattr(module, name, None)
            if isinstance(value, (int, float, str, torch.dtype)) or value is None:
                yield f"{path and f'{path}.'}{name}: {value!r}"


def sources(
    root: nn.Module,
    held: Sequence[HeldTensor],
    mesh: DeviceMesh | None,
    placements: Placements | None,
    state_dict: StateDict | None,
    prefix: str,
) -> Sources:
    """What the user asks for, for all tensors of a module; with a prefix, only the names below it count in the state dict.

    Raises:
        TypeError: there are placements without a mesh.
        ValueError: placements or the checkpoint do not fit the module. All findings are listed.
    """
    if placements is not None and mesh is None:
        raise TypeError("materialize(): placements are on a mesh; give mesh= too")
    placed: dict[int, tuple[Placement, ...] | None] = {}
    if mesh is not None:
        registered = {each.homes[0].qualified: each for each in held if each.is_registered and each.tensor.is_meta}
        names = {name: [home.qualified for home in each.homes] for name, each in registered.items()}
        tensors = {name: each.tensor for name, each in registered.items()}
        found = chosen(names, tensors, mesh, placements)
        placed = {id(tensors[name]): value for name, value in found.items()}
    matches = {} if state_dict is None else matched(root, held, at_prefix(opened(state_dict), prefix))
    return Sources(mesh, placed, matches, meshes_of((each.tensor for each in held), mesh))


def report_of(
    values: Sequence[tuple[HeldTensor, Tensor]],
    matches: Mapping[int, Match],
    initialisers: Mapping[int, str],
    seed: int | None,
    bytes_read: int,
) -> MaterializeReport:
    """The report on tensors and their values.

    Args:
        values: Each tensor that was on meta, and what it is now.
        matches: What the checkpoint had, by the ids of the tensors that were on meta.
        initialisers: What initialises each tensor, in words: `Linear.reset_parameters`; by the same ids.
        seed: The seed of what was drawn.
        bytes_read: Bytes that were read from the checkpoint.
    """
    entries = [entry for held, value in values for entry in _entries(held, value, matches, initialisers)]
    drawn = any(entry.source == "initialiser" for entry in entries)
    return MaterializeReport(tuple(entries), seed if drawn else None, bytes_read)


def _entries(
    held: HeldTensor, value: Tensor, matches: Mapping[int, Match], initialisers: Mapping[int, str]
) -> Iterator[MaterializedTensor]:
    """The lines of the report about a tensor: one for its first name, and one for each name that is tied to it."""
    # A name that the declaration ties to another comes after that one.
    name, *others = dict.fromkeys(home.qualified for home in sorted(held.homes, key=lambda home: home.is_declared_tie))
    match = matches.get(id(held.tensor))
    if match is None:
        detail = initialisers[id(held.tensor)]
    else:
        detail = match.stored.origin if match.name == name else f"{match.stored.origin}: {match.name}"
    shape, local, dtype = tuple(value.shape), tuple(local_part(value).shape), value.dtype
    yield MaterializedTensor(name, shape, local, dtype, "checkpoint" if match else "initialiser", detail)
    for other in others:
        yield MaterializedTensor(other, shape, local, dtype, "tie", name)
