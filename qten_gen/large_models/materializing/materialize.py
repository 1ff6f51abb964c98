"""`module.materialize`: give the tensors of a module on meta their values, in place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensor
from torch.types import Device as DeviceLike
from torch.utils._pytree import tree_map_only

from ...runtime.declaring.parameters import Buffer, Parameter
from ...runtime.module.core.module_base import ModuleBase
from ...runtime.module.kept_dtypes import kept_tensors
from ..sharding.agreement import agreed_seed, check_agreement, values_of
from .coverage import check_covered, check_kinds, check_not_fake
from .keyed_draws import Key
from .matching import StateDict
from .placing import fill, place, settle
from .plan import Plan, planned
from .report import MaterializeReport
from .sources import Sources, report_of, sources
from .survey import HeldTensor, Registry, survey

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh

    from ..sharding.placements import Placements


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
    """The work of `DeclaredModule.materialize`."""
    target = usable(device)
    _check(seed, dtype)
    prefix = f"{prefix}." if prefix else ""
    held = survey(module)
    check_not_fake(held)
    on_meta = [each for each in held if each.tensor.is_meta]
    wanted = sources(module, held, mesh, placements, state_dict, prefix)
    if wanted.meshes:
        check_agreement([f"dtype=: {dtype}", *wanted.described(module, held)], wanted.meshes)
    made: list[tuple[HeldTensor, Tensor]] = []
    initialisers: dict[int, str] = {}
    bytes_read = 0
    if on_meta:
        check_kinds(on_meta)
        plan = planned(module, held, target)
        check_covered(plan, frozenset(wanted.matches))
        seed = agreed_seed(_drawn() if seed is None else seed, wanted.meshes, drawn=seed is None)
        making = _Making(plan, plan.keys(seed, prefix), target, dtype, wanted, _kept(module))
        _check_shared(plan, wanted)
        for each in plan.missing:
            value, count = making.value_of(each)
            placed = place(each, value, plan.stand_ins.at(each).requires_grad)
            made.append((plan.origin_first(each), placed))
            bytes_read += count
        _assign(plan, making)
        settle(module)
        if wanted.meshes and wanted.matches:
            loaded = [(h.homes[0].qualified, tensor) for h, tensor in made if id(h.tensor) in wanted.matches]
            check_agreement(values_of(loaded), wanted.meshes)
        initialisers = {id(each.tensor): plan.initialiser(each) for each in held}
    if report is not None:
        report(report_of(made, wanted.matches, initialisers, seed, bytes_read))
    return module


def _drawn() -> int:
    """A seed from torch's default generator, which `torch.manual_seed` sets."""
    return int(torch.empty((), dtype=torch.int64, device="cpu").random_())


def _check(seed: int | None, dtype: torch.dtype | None) -> None:
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int)):
        raise TypeError(f"materialize(): seed must be an integer, got {seed!r}")
    if dtype is not None and not (isinstance(dtype, torch.dtype) and dtype.is_floating_point):
        raise TypeError(f"materialize(): dtype must be a floating point dtype, got {dtype!r}")


def _check_shared(plan: Plan, wanted: Sources) -> None:
    """Refuse a mesh for tensors that are views of one memory: DTensors cannot be. Refuse a view that reads it otherwise too."""
    for held in plan.missing:
        if plan.stand_ins.memory_of(held) is None:
            continue
        name = plan.names[id(held.tensor)]
        if wanted.placed.get(id(held.tensor)) is not None:
            raise ValueError(f"materialize(): {name} shares memory with another tensor, and cannot be placed on a mesh")
        if held.tensor.is_conj():
            raise ValueError(f"materialize(): {name} is a conjugate view of another tensor; let it be a copy")


@dataclass(frozen=True, slots=True)
class _Making:
    """Makes the real tensors of a plan, one at a time."""

    plan: Plan
    keys: Mapping[int, Key]
    device: torch.device
    dtype: torch.dtype | None
    wanted: Sources
    kept: frozenset[int]
    """The ids of the tensors whose dtypes no cast changes."""
    memories: dict[int, Tensor] = field(default_factory=dict)
    """The memory that tensors share, by the id of its stand-in."""

    def value_of(self, held: HeldTensor) -> tuple[Tensor, int]:
        """The value of a tensor, and how many bytes of it were read from the checkpoint."""
        fake, memory = self.plan.stand_ins.at(held), self.plan.stand_ins.memory_of(held)
        is_cast = fake.is_floating_point() and not _has_declared_dtype(held) and id(held.tensor) not in self.kept
        dtype = self.dtype if is_cast else None
        is_loaded = id(held.tensor) in self.wanted.matches
        if memory is not None:
            if id(memory) not in self.memories:
                self.memories[id(memory)] = self.filled(memory, dtype)
            value = self.memories[id(memory)].as_strided(fake.shape, fake.stride(), fake.storage_offset())
        else:
            value = self.wanted.allocated(held, fake, self.device, dtype)
            if not is_loaded:
                self._fill(fake, value)
        return value, self.wanted.load(held, value) if is_loaded else 0

    def filled(self, fake: Tensor, dtype: torch.dtype | None = None) -> Tensor:
        """A plain tensor with the values that the initialisation gives a fake one, rounded to a dtype."""
        value = torch.empty_strided(fake.shape, fake.stride(), dtype=dtype or fake.dtype, device=self.device)
        self._fill(fake, value)
        return value

    def _fill(self, fake: Tensor, value: Tensor) -> None:
        fill(*self.plan.recorded(fake), self.keys, value)


def _kept(root: nn.Module) -> frozenset[int]:
    return frozenset(id(tensor) for module in root.modules() for _, tensor in kept_tensors(module))


def _has_declared_dtype(held: HeldTensor) -> bool:
    """Whether a declaration says the dtype of a tensor, whatever that of the module is."""
    for home in held.homes:
        specifier = home.module._specifiers.get(home.name) if isinstance(home.module, ModuleBase) else None
        if isinstance(specifier, Parameter | Buffer) and specifier.dtype is not None:
            return True
    return False


def _assign(plan: Plan, making: _Making) -> None:
    """Give modules what their initialisation assigned beside the tensors that they had. Plain attributes keep their dtype."""
    known = {id(plan.stand_ins.at(held)): held.tensor for held in plan.held}
    registered = {id(each.value) for each in plan.stand_ins.assigned if each.registry is not Registry.ATTRIBUTE}
    made: dict[int, Tensor] = {}

    def real(fake: FakeTensor) -> Tensor:
        if id(fake) in known:
            return known[id(fake)]
        if id(fake) not in made:
            is_cast = id(fake) in registered and fake.is_floating_point()
            made[id(fake)] = making.filled(fake, making.dtype if is_cast else None)
        return made[id(fake)]

    for each in plan.stand_ins.assigned:
        value = tree_map_only(FakeTensor, real, each.value)
        if each.registry is Registry.PARAMETERS:
            value = nn.Parameter(value, isinstance(each.value, Tensor) and each.value.requires_grad)
        holder = vars(each.module)
        (holder if each.registry is Registry.ATTRIBUTE else holder[each.registry.value])[each.name] = value


def usable(device: DeviceLike) -> torch.device:
    """The device with its index, on this machine.

    Raises:
        ValueError: it is meta, where tensors have no values.
        RuntimeError: this machine does not have it, or this torch is built without it.
    """
    found = torch.get_default_device() if device is None else torch.device(device)
    if found.type == "meta":
        raise ValueError("materialize(): tensors on meta have no values; give the device that they are to be on")
    if found.type == "cpu":
        return torch.device("cpu")
    backend = getattr(torch, found.type, None)
    count = backend.device_count() if backend is not None and backend.is_available() else 0
    if backend is None or count == 0:
        raise RuntimeError(f"materialize(): there is no {found.type} device here, got device={str(found)!r}")
    index = backend.current_device() if found.index is None else found.index
    if index >= count:
        raise RuntimeError(
            f"materialize(): the {found.type} devices here are 0 to {count - 1}, got device={str(found)!r}"
        )
    return torch.device(found.type, index)
