"""What functions return: annotated, or proven by their statements."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import partial

from ..adoption import FoundClass
from ..opened import OpenFile, Project
from .attributes import attributes_of, constructed, set_to_none
from .evaluation import annotated, begun
from .statements import own_nodes
from .values import ANYTHING, NONE, Values

_DEEPEST = 8
"""How many functions that call each other are followed."""

_PASSING = frozenset(
    "builtins.staticmethod staticmethod torch.enable_grad torch.inference_mode torch.jit.ignore torch.jit.unused "
    "torch.no_grad".split()
)
"""Decorators of functions that return what the function returns."""


def returned(
    function: ast.FunctionDef,
    file: OpenFile,
    project: Project,
    cls: FoundClass | None,
    passed: tuple[Values, ...] = (),
    depth: int = 0,
) -> Values:
    """The values that a function returns: what it is annotated with, or what its statements return for such arguments."""
    if any(project.meaning(file, _head(each)) not in _PASSING for each in function.decorator_list):
        return ANYTHING
    if function.returns is not None:
        return annotated(function.returns, file, project)
    if depth > _DEEPEST or any(
        isinstance(each, ast.Yield | ast.YieldFrom | ast.Nonlocal) for each in own_nodes(function)
    ):
        return ANYTHING
    key = (file.path, function.lineno, "" if cls is None else cls.qualified, passed)
    if key in project.results:
        return project.results[key]
    called = partial(_called, project, depth)
    attributes = {} if cls is None else attributes_of(cls, project, called)
    project.results[key] = ANYTHING  # for a function that calls itself
    run, state = begun(function, file, project, called, cls, attributes or {}, passed)
    result = run.statements().result(function, state)
    if attributes is None:
        del project.results[key]  # it is better known once the constructor is
    else:
        project.results[key] = result
    return result


def _called(
    project: Project,
    depth: int,
    function: ast.FunctionDef,
    file: OpenFile,
    cls: FoundClass | None,
    passed: tuple[Values, ...],
) -> Values:
    """What a function returns that another one calls."""
    return returned(function, file, project, cls, passed, depth + 1)


def attributes_set(found: FoundClass, file: OpenFile, project: Project) -> Mapping[str, Values]:
    """What a class sets the attributes of its objects to, and None from other methods; `*` stands for names that are computed."""
    found_values = constructed(found, file, project, partial(_called, project, 0))
    return found_values | {name: found_values.get(name, NONE) | NONE for name in set_to_none(found)}


def _head(decorator: ast.expr) -> ast.expr:
    return decorator.func if isinstance(decorator, ast.Call) else decorator
