"""Builds and records one of the two models, in a process of its own, and writes what it found into a file."""

from __future__ import annotations

import inspect
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import torch
from torch import Tensor, nn

from ...runtime.tensorclass.core.stored import Stored
from ..inspect.arguments import call, parameters_of, read_arguments
from ..inspect.config_types import EMPTY
from ..inspect.importing import load
from ..inspect.inputs import Inputs, make_inputs
from ..inspect.request import InspectionError
from ..inspect.running import classes_beside
from ..inspect.silence import aside
from ..inspect.user_errors import of_user
from .recording import record
from .records import Record

Factory = Callable[..., object]


@dataclass(frozen=True, slots=True)
class Task:
    """What a worker builds and records."""

    target: str
    """The class or function that makes the model: `pkg.model:Net`."""
    config: tuple[str, ...]
    """Its arguments: `("depth=48", "dim=8192")`."""
    config_json: str | None
    """The same as a JSON object."""
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
    """What a worker found: a record, or why there is none."""

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
    """What the model holds and computes. The first worker leaves types and inputs for the second."""
    sys.path[:0] = task.roots
    found = load(task.target, task.roots)
    if isinstance(found, nn.Module):
        raise InspectionError(
            [f"{task.target} is an existing module; name its class, or a function that constructs it"]
        )
    hints = Path(f"{task.inputs_file}.types")
    if task.is_first:
        hints.write_text(json.dumps(_classes_of_arguments(found)), encoding="utf-8")
    factory = found if task.is_first else _annotated(found, json.loads(hints.read_text(encoding="utf-8")))
    tree, problems = read_arguments(task.config, task.config_json)
    args, keywords = call(factory, tree, problems)
    made = _made_once(task) if task.inputs is not None else None
    try:
        return record(found, args, keywords, made, task.seed)
    except InspectionError:
        raise
    except (Exception, SystemExit) as error:  # whatever code of the user raises
        raise of_user(f"{task.target}({', '.join(task.config)})", error) from None


def _classes_of_arguments(factory: Factory) -> dict[str, str]:
    """Which class each argument is annotated with, as `pkg.model:Config`."""
    kinds = {each.name: each.kind for each in parameters_of(factory)[0]}
    return {name: f"{kind.__module__}:{kind.__qualname__}" for name, kind in kinds.items() if isinstance(kind, type)}


def _annotated(factory: Factory, classes: dict[str, str]) -> Factory:
    """A factory whose arguments have, where it does not annotate them, the types that they have in the new code."""
    try:
        signature = inspect.signature(factory)
    except (TypeError, ValueError):
        return factory
    own = {each.name: each.kind for each in parameters_of(factory)[0]}

    def kind_of(name: str) -> object:
        if own.get(name, EMPTY) is EMPTY and name in classes:
            try:
                return _class_called(classes[name])
            except (ImportError, AttributeError):  # there was no such class
                pass
        return own.get(name, EMPTY)

    def made(*args: object, **keywords: object) -> object:
        return factory(*args, **keywords)

    found = []
    for parameter in signature.parameters.values():
        kind = kind_of(parameter.name)
        found.append(parameter.replace(annotation=parameter.empty if kind is EMPTY else kind))
    made.__name__ = getattr(factory, "__name__", "factory")
    made.__signature__ = signature.replace(parameters=found)  # type: ignore[attr-defined] # what `inspect` asks for
    return made


def _class_called(name: str) -> object:
    """The class that `pkg.model:Config` names."""
    module, _, path = name.partition(":")
    found: object = import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found


def _made_once(task: Task) -> Callable[[nn.Module], Inputs]:
    """What gives the inputs: the first worker makes them, for names in sizes mean its config, and the second one reads them."""

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
    """What random integers are below: indices have to be in the smallest embedding."""
    sizes = [module.num_embeddings for module in model.modules() if isinstance(module, nn.Embedding)]
    return min(sizes, default=2)


def _randomise(value: object, bound: int, generator: torch.Generator) -> None:
    """Fill the tensors in a value with random numbers, in place."""
    if isinstance(value, Tensor):
        if value.is_floating_point() or value.is_complex():
            value.copy_(torch.randn(value.shape, generator=generator))
        elif value.dtype is torch.bool:
            value.copy_(torch.randint(2, value.shape, generator=generator))
        else:
            value.copy_(torch.randint(bound, value.shape, generator=generator))
    elif isinstance(value, (list, tuple)):
        for item in value:
            _randomise(item, bound, generator)
    elif isinstance(value, dict):
        for item in value.values():
            _randomise(item, bound, generator)
    elif isinstance(value, Stored):
        for name in type(value)._fields:
            _randomise(getattr(value, name), bound, generator)


def search_path(folder: str, roots: tuple[str, ...]) -> tuple[str, ...]:
    """The folders of one version of the code that it is imported from."""
    return (folder, *(os.path.normpath(os.path.join(folder, root)) for root in roots))
