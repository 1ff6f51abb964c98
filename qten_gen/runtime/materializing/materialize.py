"""`module.materialize`: give the tensors of a module on meta their values, in place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensor
from torch.types import Device as DeviceLike
from torch.utils._pytree import tree_map_only

from ..declaring.fields import Buffer, Parameter
from ..module.core.module_base import ModuleBase
from .agreement import agreed_seed
from .checkpoints import Checkpoint, CheckpointError, read
from .coverage import check_covered, check_kinds
from .devices import usable
from .evaluation import draw_keys
from .filling import allocated, fill, local_part
from .initialisation import description
from .keyed_draws import Key
from .matching import Match, StateDict, matched, opened
from .placements import chosen, on_mesh
from .placing import place, settle
from .plan import Plan, planned
from .report import MaterializedTensor, MaterializeReport
from .survey import HeldTensor, Registry, survey

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh

    from .placements import Placements

M = TypeVar("M", bound=nn.Module)


def materialize(
    module: M,
    device: DeviceLike,
    *,
    seed: int | None = None,
    dtype: torch.dtype | None = None,
    mesh: DeviceMesh | None = None,
    placements: Placements | None = None,
    state_dict: StateDict | None = None,
    report: Callable[[MaterializeReport], object] | None = None,
    prefix: str = "",
) -> M:
    """What `DeclaredModule.materialize` does."""
    target = usable(device)
    _check(seed, dtype, mesh, placements)
    prefix = f"{prefix}." if prefix else ""
    tensors: list[MaterializedTensor] = []
    bytes_read = 0
    on_meta = [held for held in survey(module) if held.tensor.is_meta]
    if on_meta:
        check_kinds(on_meta)
        plan = planned(module, target)
        matches = {} if state_dict is None else matched(module, plan.held, _below(opened(state_dict), prefix))
        check_covered(plan, frozenset(matches))
        seed = agreed_seed([held.tensor for held in on_meta], mesh) if seed is None else seed
        keys = draw_keys(plan.tape, plan.targets(prefix), seed)
        made = _Making(plan, keys, target, dtype, matches, _placed(plan, mesh, placements))
        for held in plan.missing:
            value, count = made.value_of(held)
            place(held, value, plan.stand_ins.at(held).requires_grad)
            tensors += made.rows(held)
            bytes_read += count
        _assign(plan, made.filled)
        settle(module)
    if report is not None:
        drawn = any(each.source == "initialiser" for each in tensors)
        report(MaterializeReport(tuple(tensors), seed if drawn else None, bytes_read))
    return module


def _check(seed: int | None, dtype: torch.dtype | None, mesh: DeviceMesh | None, placements: Placements | None) -> None:
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int)):
        raise TypeError(f"materialize(): seed must be an integer, got {seed!r}")
    if dtype is not None and not (isinstance(dtype, torch.dtype) and dtype.is_floating_point):
        raise TypeError(f"materialize(): dtype must be a floating point dtype, got {dtype!r}")
    if placements is not None and mesh is None:
        raise ValueError("materialize(): placements say where tensors are on a mesh; give mesh= too")


def _below(checkpoint: Checkpoint, prefix: str) -> Checkpoint:
    """What a checkpoint of a larger module has for the part of it that a prefix names."""
    if not prefix:
        return checkpoint
    tensors = {name.removeprefix(prefix): each for name, each in checkpoint.tensors.items() if name.startswith(prefix)}
    if checkpoint.tensors and not tensors:
        raise CheckpointError(f"materialize(): no name in {checkpoint.where} begins with {prefix!r}, the prefix")
    versions = {
        name.removeprefix(prefix) if name.startswith(prefix) else "": each
        for name, each in checkpoint.versions.items()
        if f"{name}.".startswith(prefix)
    }
    others = {name.removeprefix(prefix): kind for name, kind in checkpoint.others.items() if name.startswith(prefix)}
    return replace(checkpoint, tensors=tensors, others=others, versions=versions)


def _placed(plan: Plan, mesh: DeviceMesh | None, placements: Placements | None) -> dict[int, Tensor]:
    """For each tensor on meta that is to be a DTensor, by its id, that DTensor on meta."""
    if mesh is None:
        return {}
    missing = [held for held in plan.missing if held.is_registered]
    names = {plan.names[id(held.tensor)]: held for held in missing}
    found = chosen(
        {name: [home.qualified for home in held.homes] for name, held in names.items()},
        {name: held.tensor for name, held in names.items()},
        mesh,
        placements,
    )
    placed: dict[int, Tensor] = {}
    for name, of_tensor in found.items():
        held = names[name]
        if of_tensor is None:
            continue
        if plan.stand_ins.memory_of(held) is not None:
            raise ValueError(f"materialize(): {name} shares memory with another tensor, and cannot be placed on a mesh")
        placed[id(held.tensor)] = on_mesh(held.tensor, mesh, of_tensor)
    return placed


@dataclass(frozen=True, slots=True)
class _Making:
    """Makes the real tensors of a plan, one at a time."""

    plan: Plan
    keys: Mapping[int, Key]
    device: torch.device
    dtype: torch.dtype | None
    matches: Mapping[int, Match]
    placed: Mapping[int, Tensor]

    def value_of(self, held: HeldTensor) -> tuple[Tensor, int]:
        """The value of a tensor, and how many bytes of it were read."""
        dtype = self.dtype if held.tensor.is_floating_point() and not _has_declared_dtype(held) else None
        fake, match = self.plan.stand_ins.at(held), self.matches.get(id(held.tensor))
        memory = self.plan.stand_ins.memory_of(held)
        if memory is not None:
            flat = self.plan.made.setdefault(id(memory), None)
            if flat is None:
                flat = self.plan.made[id(memory)] = self.filled(memory, dtype)
            value = flat.as_strided(fake.shape, fake.stride(), fake.storage_offset())
        elif match is None:
            return self.filled(fake, dtype, self.placed.get(id(held.tensor), held.tensor)), 0
        else:
            value = allocated(self.placed.get(id(held.tensor), held.tensor), self.device, dtype)
        return value, 0 if match is None else read(match.stored, value)

    def filled(self, fake: Tensor, dtype: torch.dtype | None = None, like: Tensor | None = None) -> Tensor:
        """A tensor with the values that the initialisation gives a fake one; laid out and placed as `like`."""
        if like is None or like.shape != fake.shape or like.dtype != fake.dtype:
            value = torch.empty_strided(fake.shape, fake.stride(), dtype=fake.dtype, device=self.device)
        else:
            value = allocated(like, self.device)
        fill(self.plan.tape, self.plan.recorder.slot(fake), self.keys, value)
        with torch.no_grad():
            return value if dtype is None else value.to(dtype)

    def rows(self, held: HeldTensor) -> Iterator[MaterializedTensor]:
        """What the report says of a tensor that has been made, under each of its names."""
        origin, match = self.plan.origins[id(held.tensor)], self.matches.get(id(held.tensor))
        name = self.plan.names[id(held.tensor)]
        for home in held.homes:
            tensor = vars(home.module)[home.registry.value].get(home.name) if home.registry.value else None
            if tensor is None:
                continue
            shape, here = tuple(tensor.shape), tuple(local_part(tensor).shape)
            row = MaterializedTensor(home.qualified, shape, here, tensor.dtype, "tie", name)
            if home is not origin:
                yield row
            elif match is None:
                yield replace(row, source="initialiser", detail=description(home.module))
            else:
                stored = match.stored.origin if match.name == home.qualified else f"{match.stored.origin} {match.name}"
                yield replace(row, source="checkpoint", detail=stored)


def _has_declared_dtype(held: HeldTensor) -> bool:
    """Whether a declaration says the dtype of a tensor, whatever that of the module is."""
    for home in held.homes:
        specifier = home.module._specifiers.get(home.name) if isinstance(home.module, ModuleBase) else None
        if isinstance(specifier, Parameter | Buffer) and specifier.dtype is not None:
            return True
    return False


def _assign(plan: Plan, filled: Callable[[Tensor], Tensor]) -> None:
    """Give modules what their initialisation assigned beside the tensors that they had."""
    known = {id(plan.stand_ins.at(held)): held.tensor for held in plan.held}
    made: dict[int, Tensor] = {}

    def real(fake: FakeTensor) -> Tensor:
        if id(fake) in known:
            return known[id(fake)]
        if id(fake) not in made:
            made[id(fake)] = filled(fake)
        return made[id(fake)]

    for each in plan.stand_ins.assigned:
        value = tree_map_only(FakeTensor, real, each.value)
        if each.registry is Registry.PARAMETERS:
            value = nn.Parameter(value, isinstance(each.value, Tensor) and each.value.requires_grad)
        holder = vars(each.module)
        (holder if each.registry is Registry.ATTRIBUTE else holder[each.registry.value])[each.name] = value
