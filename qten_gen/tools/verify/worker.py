"""Builds and records one of the two models, in a process of its own, and writes what it found into a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from ..inspect.forward_backward import classes_beside
from ..inspect.inputs import Inputs, make_inputs
from ..inspect.request import InspectionError
from ..inspect.shapes_of_values import tensors_in
from ..inspect.targets import arguments_for, load, split_call
from ..inspect.user_code import aside, of_user
from .model_record import Record
from .model_run import record


@dataclass(frozen=True, slots=True)
class Task:
    """The task of a worker: to build and record a model."""

    target: str
    """The class or function that makes the model: `pkg.model:Net`."""
    config: tuple[str, ...]
    """Its arguments: `("depth=48", "dim=8192")`."""
    inputs: tuple[str, ...] | None
    """The inputs to run forward and backward on: `("x: Float[2, 8]",)`; None for no run."""
    seed: int
    roots: tuple[str, ...]
    """Folders to import from, the first ones first."""
    inputs_file: str
    """Where the first worker leaves the inputs for the second."""
    is_first: bool


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a worker: a record, or the reason why there is none."""

    record: Record | None = None
    problems: tuple[str, ...] = ()
    trace: str = ""
    is_misuse: bool = True


def main() -> None:
    """Do the task in the file that the first argument names, and write the result into that of the second."""
    task: Task = torch.load(sys.argv[1], weights_only=False)
    torch.save(run_task(task), sys.argv[2])


def run_task(task: Task) -> Result:
    """Import, build, run and record; errors of the user's code are a part of the result."""
    with aside():
        try:
            return Result(_recorded(task))
        except InspectionError as error:
            return Result(problems=error.problems, trace=error.trace, is_misuse=error.is_misuse)


def _recorded(task: Task) -> Record:
    """The record of the model. The first worker leaves types and inputs for the second."""
    sys.path[:0] = task.roots
    target, arguments = split_call(task.target)
    found = load(target, task.roots)
    if isinstance(found, nn.Module):
        raise InspectionError(
            [f"{task.target} is an existing module; name its class, or a function that constructs it"]
        )
    keywords = arguments_for(found, (*arguments, *task.config))
    made = _made_once(task) if task.inputs is not None else None
    try:
        return record(found, [], keywords, made, task.seed)
    except InspectionError:
        raise
    except (Exception, SystemExit) as error:  # whatever code of the user raises
        raise of_user(f"{task.target}({', '.join(task.config)})", error) from None


def _made_once(task: Task) -> Callable[[nn.Module], Inputs]:
    """The function that gives the inputs, which the first worker makes, for names in sizes mean its config."""

    def make(model: nn.Module) -> Inputs:
        if task.is_first:
            made = make_inputs(task.inputs or (), model, torch.device("cpu"), classes_beside(model))
            _randomise((made.args, dict(made.keywords)), _bound(model), torch.Generator().manual_seed(task.seed))
            torch.save((made.args, dict(made.keywords)), task.inputs_file)
            return made
        args, keywords = torch.load(task.inputs_file, weights_only=False)
        return Inputs(args, keywords)

    return make


def _bound(model: nn.Module) -> int:
    """The upper bound of random integers: indices have to be in the smallest embedding."""
    sizes = [module.num_embeddings for module in model.modules() if isinstance(module, nn.Embedding)]
    return min(sizes, default=2)


def _randomise(value: object, bound: int, generator: torch.Generator) -> None:
    """Fill the tensors in a value with random numbers, in place."""
    for tensor in tensors_in(value):
        if tensor.is_floating_point() or tensor.is_complex():
            tensor.copy_(torch.randn(tensor.shape, generator=generator))
        else:
            highest = 2 if tensor.dtype is torch.bool else bound
            tensor.copy_(torch.randint(highest, tensor.shape, generator=generator))


def search_path(folder: str, roots: tuple[str, ...]) -> tuple[str, ...]:
    """The folders of one version of the code that it is imported from."""
    return (folder, *(os.path.normpath(os.path.join(folder, root)) for root in roots))
