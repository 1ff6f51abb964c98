"""`inspect`: builds what a request names, runs it, and says what it holds and does."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import torch
from torch import nn

from ...runtime.tensorclass.core.stored import Stored
from .arguments import call, read_arguments
from .config_types import Unfit, dtype_called
from .construction import build, on_fakes
from .importing import load, named
from .memory import Memory, memory_of
from .model_tree import ModuleEntry
from .plans import Plan, mesh_of, plan_of
from .request import InspectionError, Request
from .running import run
from .runs import Run
from .silence import aside
from .totals import Sharding, Totals, sharding_of, totals_of
from .walking import contents_of


@dataclass(frozen=True, slots=True)
class Inspection:
    """Everything that was found out about a model."""

    target: str
    tree: ModuleEntry
    totals: Totals
    sharding: Sharding | None
    memory: Memory
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
    if request.ranks is not None and request.ranks < 1:
        raise InspectionError([f"--ranks {request.ranks}: expected at least 1"])
    mesh = _mesh(request)
    with aside():
        model = on_fakes(model_of(request), device, dtype)
        tree = contents_of(model)
        found = None if request.inputs is None else run(model, request.inputs, device)
        if found is not None and not all(entry.is_initialised for entry in tree.all_tensors()):
            tree = contents_of(model)
        totals = totals_of(tree)
        memory = memory_of(tree, totals, found)
        plan = None if mesh is None else plan_of(model, tree, mesh, request.plan)
    sharding = None
    if request.ranks is not None:
        replicas = 1 if mesh is None else prod(mesh.values())
        sharding = sharding_of(tree.all_tensors() if plan is None else plan.local, request.ranks // replicas)
    return Inspection(request.target, tree, totals, sharding, memory, found, plan)


def _mesh(request: Request) -> dict[str, int] | None:
    """The mesh of a plan; None if none is asked for."""
    if request.mesh is None:
        if request.plan is not None:
            raise InspectionError(["--plan needs a mesh, such as --mesh tp=8"])
        return None
    mesh = mesh_of(request.mesh)
    size = prod(mesh.values())
    if request.ranks is not None and request.ranks % size:
        raise InspectionError([f"--ranks {request.ranks}: expected a multiple of {size}, the ranks of {request.mesh}"])
    return mesh


def names_module(request: Request) -> bool:
    """Whether the target of a request is something that makes a module, and not a TensorClass, which may have a lock too.

    Raises:
        InspectionError: It names nothing, or importing it fails.
    """
    with aside():
        found = named(request.target, request.import_roots)
    return not (isinstance(found, type) and issubclass(found, Stored))


def model_of(request: Request) -> nn.Module:
    """The model of a request: the module that the target names, or one that it constructs with the arguments.

    Raises:
        InspectionError: the request is wrong, or the model cannot be built.
    """
    tree, problems = read_arguments(request.config, request.config_json)
    found = load(request.target, request.import_roots)
    if isinstance(found, nn.Module):
        if tree or problems:
            raise InspectionError([f"{request.target} is an existing module, so --config cannot be used"])
        return found
    if any(problem.startswith("--config-json") for problem in problems):  # what it would have said is not missing
        raise InspectionError(problems)
    args, keywords = call(found, tree, problems)
    return build(found, args, keywords)


def _dtype(name: str | None) -> torch.dtype | None:
    try:
        found = None if name is None else dtype_called(name)
    except Unfit as error:
        raise InspectionError([f"--dtype: {error}"]) from None
    if found is not None and not (found.is_floating_point or found.is_complex):
        raise InspectionError([f"--dtype: expected a floating dtype such as bfloat16, got {name!r}"])
    return found


def _device(name: str) -> torch.device:
    try:
        found = torch.device(name)
    except RuntimeError:
        raise InspectionError([f"--device: expected cpu, cuda or cuda:1, got {name!r}"]) from None
    if found.type not in ("cpu", "cuda", "meta"):
        raise InspectionError([f"--device: expected cpu, cuda or cuda:1, got {name!r}"])
    return found
