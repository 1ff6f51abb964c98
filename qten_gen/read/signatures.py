"""Reads function definitions into signatures as text, for stubs."""

from __future__ import annotations

import ast

from ..model import MethodSource, NodePath, Signature, language
from .annotations import mentioned
from .calls import called
from .docstrings import docstring
from .imports import dotted
from .names import Scope
from .values import specifier
from .written import text_of

Function = ast.FunctionDef | ast.AsyncFunctionDef
"""The statements that define a function."""


def positional_parameters(node: Function) -> list[ast.arg]:
    """The parameters that take positional arguments, `self` among them."""
    return [*node.args.posonlyargs, *node.args.args]


def signature(node: Function, place: NodePath, scope: Scope, *, skip_first: bool) -> Signature:
    """The parameters and result as written, with `...` for defaults. `skip_first` leaves out `self`."""
    names: dict[str, None] = {}
    given, positional = node.args, positional_parameters(node)
    required = len(positional) - len(given.defaults)
    skipped = 1 if skip_first and positional else 0
    texts = [
        _parameter(parameter, index >= required, scope, names)
        for index, parameter in enumerate(positional)
        if index >= skipped
    ]
    if len(given.posonlyargs) > skipped:
        texts.insert(len(given.posonlyargs) - skipped, "/")
    if given.vararg is not None:
        texts.append("*" + _parameter(given.vararg, False, scope, names))
    elif given.kwonlyargs:
        texts.append("*")
    for parameter, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        texts.append(_parameter(parameter, default is not None, scope, names))
    if given.kwarg is not None:
        texts.append("**" + _parameter(given.kwarg, False, scope, names))
    result = "" if node.returns is None else _annotation(node.returns, scope, names)
    return Signature(", ".join(texts), result, tuple(names), isinstance(node, ast.AsyncFunctionDef), place)


def method(node: Function, place: NodePath, scope: Scope) -> MethodSource:
    """Read a function in a class body, with its decorators."""
    decorators: list[str] = []
    call = None
    for index, decorator in enumerate(node.decorator_list):
        function = called(decorator)
        decorators.append(scope.resolve(dotted(function) or text_of(function, scope.lines)))
        if decorators[-1] == language.VIRTUAL and isinstance(decorator, ast.Call):
            call = specifier(decorator, place / "decorator_list" / index, scope)
    static = "builtins.staticmethod" in decorators
    return MethodSource(
        node.name,
        signature(node, place, scope, skip_first=not static),
        tuple(decorators),
        call,
        docstring(node),
        place,
    )


def _parameter(parameter: ast.arg, has_default: bool, scope: Scope, names: dict[str, None]) -> str:
    if parameter.annotation is None:
        return f"{parameter.arg}=..." if has_default else parameter.arg
    text = f"{parameter.arg}: {_annotation(parameter.annotation, scope, names)}"
    return f"{text} = ..." if has_default else text


def _annotation(node: ast.expr, scope: Scope, names: dict[str, None]) -> str:
    names.update(dict.fromkeys(mentioned(node, scope)))
    return text_of(node, scope.lines)
