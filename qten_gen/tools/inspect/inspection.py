"""`inspect`: builds what a request names, runs it, and says what it holds and does."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from ...runtime.tensorclass.core.stored import Stored
from .forward_backward import run
from .model_building import build, on_fakes
from .model_tree import ModuleEntry, Totals, contents_of, totals_of
from .plans import Plan, mesh_of, plan_of
from .recorded_calls import Run
from .request import InspectionError, Request
from .targets import arguments_for, load, named, split_call
from .user_code import aside


@dataclass(frozen=True, slots=True)
class Inspection:
    """Everything that was found out about a model."""

    target: str
    tree: ModuleEntry
    totals: Totals
    run: Run | None
    plan: Plan | None

    @property
    def is_good(self) -> bool:
        """Whether the run raised nothing, every annotation was true, and the plan fits, if there were any."""
        if self.plan is not None and not self.plan.is_good:
            return False
        return self.run is None or (self.run.failure is None and not self.run.findings)


def inspect(request: Request) -> Inspection:
    """Build, list and run the model of a request. What the user's code prints goes to standard error.

    Raises:
        InspectionError: the request is wrong, or the model cannot be built.
    """
    device, dtype = _device(request.device), _dtype(request.dtype)
    if request.plan is not None and request.mesh is None:
        raise InspectionError(["--plan needs a mesh, such as --mesh tp=8"])
    mesh = None if request.mesh is None else mesh_of(request.mesh)
    with aside():
        model = on_fakes(model_of(request), device, dtype)
        tree = contents_of(model)
        found = None if request.inputs is None else run(model, request.inputs, device)
        if found is not None and not all(entry.is_initialised for entry in tree.all_tensors()):
            tree = contents_of(model)
        plan = None if mesh is None else plan_of(model, tree, mesh, request.plan)
    return Inspection(request.target, tree, totals_of(tree), found, plan)


def names_module(request: Request) -> bool:
    """Whether the target of a request is something that makes a module, and not a TensorClass, which may have a lock too.

    Raises:
        InspectionError: It names nothing, or importing it fails.
    """
    with aside():
        found = named(split_call(request.target)[0], request.import_roots)
    return not (isinstance(found, type) and issubclass(found, Stored))


def model_of(request: Request) -> nn.Module:
    """The model of a request: the module that the target names, or one that it constructs with the arguments.

    Raises:
        InspectionError: the request is wrong, or the model cannot be built.
    """
    target, arguments = split_call(request.target)
    arguments = (*arguments, *request.config)
    found = load(target, request.import_roots)
    if isinstance(found, nn.Module):
        if arguments:
            raise InspectionError([f"{target} is an existing module, which takes no arguments"])
        return found
    return build(found, arguments_for(found, arguments))


def _dtype(name: str | None) -> torch.dtype | None:
    if name is None:
        return None
    found = getattr(torch, name.removeprefix("torch."), None)
    if isinstance(found, torch.dtype) and (found.is_floating_point or found.is_complex):
        return found
    raise InspectionError([f"--dtype: expected a floating dtype such as bfloat16, got {name!r}"])


def _device(name: str) -> torch.device:
    try:
        found = torch.device(name)
    except RuntimeError:
        raise InspectionError([f"--device: expected cpu, cuda or cuda:1, got {name!r}"]) from None
    if found.type not in ("cpu", "cuda", "meta"):
        raise InspectionError([f"--device: expected cpu, cuda or cuda:1, got {name!r}"])
    return found
