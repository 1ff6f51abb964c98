"""`module.materialize`: give the tensors of a module on meta their values, in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensor
from torch.types import Device as DeviceLike
from torch.utils._pytree import tree_map_only

from ..declaring.fields import Buffer, Parameter
from ..module.core.module_base import ModuleBase
from .coverage import check_covered, check_kinds
from .devices import usable
from .evaluation import draw_keys, evaluate
from .placing import place, settle
from .plan import Plan, planned
from .survey import HeldTensor, Registry, survey

M = TypeVar("M", bound=nn.Module)


def materialize(
    module: M, device: DeviceLike, *, seed: int | None = None, dtype: torch.dtype | None = None, prefix: str = ""
) -> M:
    """What `DeclaredModule.materialize` does."""
    target = usable(device)
    _check(seed, dtype)
    on_meta = [held for held in survey(module) if held.tensor.is_meta]
    if not on_meta:
        return module
    check_kinds(on_meta)
    plan = planned(module, target)
    check_covered(plan, frozenset())
    keys = draw_keys(plan.tape, plan.targets(f"{prefix}." if prefix else ""), _drawn() if seed is None else seed)

    def value_of(fake: Tensor, wanted: torch.dtype | None) -> Tensor:
        value = torch.empty_strided(fake.shape, fake.stride(), dtype=fake.dtype, device=target)
        evaluate(plan.tape, plan.recorder.slot(fake), keys, value)
        return value.to(wanted) if wanted is not None and value.is_floating_point() else value

    memories: dict[int, Tensor] = {}
    for held in plan.missing:
        fake, memory = plan.stand_ins.at(held), plan.stand_ins.memory_of(held)
        wanted = None if _has_declared_dtype(held) else dtype
        if memory is None:
            value = value_of(fake, wanted)
        else:
            if id(memory) not in memories:
                memories[id(memory)] = value_of(memory, wanted)
            value = memories[id(memory)].as_strided(fake.shape, fake.stride(), fake.storage_offset())
        place(held, value, fake.requires_grad)
    _assign(plan, lambda fake: value_of(fake, dtype))
    settle(module)
    return module


def _check(seed: int | None, dtype: torch.dtype | None) -> None:
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int)):
        raise TypeError(f"materialize(): seed must be an integer, got {seed!r}")
    if dtype is not None and not (isinstance(dtype, torch.dtype) and dtype.is_floating_point):
        raise TypeError(f"materialize(): dtype must be a floating point dtype, got {dtype!r}")


def _drawn() -> int:
    """A seed from torch's default generator, which `torch.manual_seed` sets."""
    return int(torch.empty((), dtype=torch.int64, device="cpu").random_())


def _has_declared_dtype(held: HeldTensor) -> bool:
    """Whether a declaration says the dtype of a tensor, whatever that of the module is."""
    for home in held.homes:
        specifier = home.module._specifiers.get(home.name) if isinstance(home.module, ModuleBase) else None
        if isinstance(specifier, Parameter | Buffer) and specifier.dtype is not None:
            return True
    return False


def _assign(plan: Plan, value_of: Callable[[Tensor], Tensor]) -> None:
    """Give modules what their initialisation assigned beside the tensors that they had."""
    known = {id(plan.stand_ins.at(held)): held.tensor for held in plan.held}
    made: dict[int, Tensor] = {}

    def real(fake: FakeTensor) -> Tensor:
        if id(fake) in known:
            return known[id(fake)]
        if id(fake) not in made:
            made[id(fake)] = value_of(fake)
        return made[id(fake)]

    for each in plan.stand_ins.assigned:
        value = tree_map_only(FakeTensor, real, each.value)
        if each.registry is Registry.PARAMETERS:
            value = nn.Parameter(value, isinstance(each.value, Tensor) and each.value.requires_grad)
        holder = vars(each.module)
        (holder if each.registry is Registry.ATTRIBUTE else holder[each.registry.value])[each.name] = value
