"""Errors for what cannot be materialised, before anything is changed."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch._guards import active_fake_mode
from torch._subclasses.fake_tensor import FakeTensor
from torch.nn.parameter import is_lazy
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from ...runtime.module.core.module_base import ModuleBase
from .initialisation import class_name, method_of
from .plan import Plan
from .stand_ins import storage_of
from .survey import HeldTensor, Home, Registry
from .written import Gap

_SHOWN = 10
_INSTEAD = "give its values in state_dict=, or build the module with qten_gen.deferred_init"
_KINDS = {Registry.PARAMETERS: "parameter", Registry.BUFFERS: "buffer", Registry.ATTRIBUTE: "plain attribute"}


def check_kinds(held: Iterable[HeldTensor]) -> None:
    """Refuse tensors on meta of which there is no telling what the real ones would be.

    Raises:
        ValueError: a parameter of a lazy module has no shape yet.
        TypeError: a tensor is sparse, or of a class of its own, or shares memory with one of another dtype.
    """
    dtypes: dict[int, HeldTensor] = {}
    for each in held:
        home, tensor = each.homes[0], each.tensor
        if is_lazy(tensor):
            raise ValueError(
                f"materialize(): {home.qualified} has no shape, because {class_name(home.module)} is lazy;"
                " give its sizes in the declaration"
            )
        if tensor.layout is not torch.strided:
            raise TypeError(
                f"materialize(): {home.qualified} is {tensor.layout}; only strided tensors can be materialised"
            )
        if is_traceable_wrapper_subclass(tensor) and type(tensor).__name__ != "DTensor":
            raise TypeError(
                f"materialize(): {home.qualified} is a {type(tensor).__name__};"
                " only plain tensors and DTensors can be materialised"
            )
        other = dtypes.setdefault(storage_of(tensor), each)
        if other.tensor.dtype != tensor.dtype:
            raise TypeError(
                f"materialize(): {home.qualified} of {tensor.dtype} shares the memory of"
                f" {other.homes[0].qualified} of {other.tensor.dtype}; such views cannot be materialised"
            )


def check_not_fake(held: Iterable[HeldTensor]) -> None:
    """Refuse fake tensors, and to run where all tensors are fake: nothing would get a value.

    Raises:
        RuntimeError: a tensor is fake, or `fake_mode` is active.
    """
    if active_fake_mode() is not None:
        raise RuntimeError("materialize(): tensors have no values in fake_mode; leave the context first")
    fake = [each.homes[0].qualified for each in held if isinstance(each.tensor, FakeTensor)]
    if fake:
        raise RuntimeError(
            f"materialize(): {fake[0]} is a fake tensor, not one on meta; if deferred_init made it, call"
            " qten_gen.materialize_module(module); what was made in fake_mode stays fake"
        )


def check_covered(plan: Plan, given: frozenset[int]) -> None:
    """Refuse a module with a tensor that nothing initialises. `given` has the ids of those whose values come from elsewhere.

    Raises:
        RuntimeError: no `reset_parameters` writes to a tensor, or to some of its elements. All such tensors are named.
    """
    problems: list[str] = []
    for held in plan.missing:
        home = plan.origins[id(held.tensor)]
        why = plan.children.not_recorded.get(id(home.module))
        if id(held.tensor) in given:
            continue
        if id(home.module) in plan.children.refused:
            if not any(str(why) in problem for problem in problems):
                problems.append(f"{_named(home)} has unknown initial values: {why}; {_INSTEAD}")
        elif (gap := plan.gap_in(held)) is not None:
            problems.append(_problem(home, gap) + (f" ({why})" if why else ""))
    if problems:
        more = [f"and {len(problems) - _SHOWN} others"] if len(problems) > _SHOWN else []
        raise RuntimeError("materialize(): " + "\n  ".join([*problems[:_SHOWN], *more]))


def _problem(home: Home, gap: Gap) -> str:
    """The message about a tensor that nothing initialises, or that has a gap, and how to mend it."""
    module, cls = home.module, class_name(home.module)
    method = method_of(module)
    what = _named(home)
    cause = _broken_tie(home)
    if cause is not None:
        return f"{what} {cause}"
    if gap.source is not None:
        problem = (
            f"{what} gets values from memory that nothing has written, by {gap.source.overload._schema.name} at"
            f" {gap.source.place}; fill what it reads"
        )
    elif not gap.is_all:
        by = f"let {cls}.{method} fill" if method else f"give {cls} a reset_parameters that fills"
        problem = (
            f"{what} is initialised in part: nothing fills the element {list(gap.index)}; {by} all of self.{home.name}"
        )
    elif method is None:
        problem = (
            f"{what} is initialised by nothing: {cls} has no reset_parameters; give it one that fills self.{home.name}"
        )
    else:
        problem = f"{what} is not initialised: {cls}.{method} does not write to it; let it fill self.{home.name}"
    if isinstance(module, ModuleBase) and hasattr(module, "__post_init__"):
        problem += " (what __post_init__ writes on meta is lost)"
    return f"{problem}, or fill it in the reset_parameters of a module above it, or {_INSTEAD}"


def _named(home: Home) -> str:
    return f"{home.qualified}, a {_KINDS[home.registry]} of {class_name(home.module)},"


def _broken_tie(home: Home) -> str | None:
    """The message about a name that the declaration ties to another, where they are not one tensor any more."""
    if not home.is_declared_tie or not isinstance(home.module, ModuleBase):
        return None
    other = home.module._tied[home.name]
    return (
        f"is not initialised: the declaration ties it to {other}, but somebody assigned another tensor to one of the two;"
        f" assign the tensor of {other} to self.{home.name} too, or give the values of both in state_dict="
    )
