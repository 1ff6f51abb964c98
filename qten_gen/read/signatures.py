"""Reads function definitions into signatures as text, for stubs."""

from __future__ import annotations

import libcst as cst

from ..model import MethodSource, NodePath, Signature, language
from .annotations import mentioned, one_line, text_of
from .imports import dotted
from .names import Scope
from .values import specifier


def signature(node: cst.FunctionDef, place: NodePath, scope: Scope, *, skip_first: bool) -> Signature:
    """The parameters and result as written, with `...` for defaults. `skip_first` leaves out `self`."""
    names: dict[str, None] = {}
    parameters = node.params
    positional = [*parameters.posonly_params, *parameters.params]
    skipped = 1 if skip_first and positional else 0
    posonly = [_parameter(p, scope, names) for p in parameters.posonly_params[skipped:]]
    ordinary = [
        _parameter(p, scope, names) for p in parameters.params[max(0, skipped - len(parameters.posonly_params)) :]
    ]
    texts = [*posonly, "/"] if posonly else []
    texts += ordinary
    if isinstance(parameters.star_arg, cst.Param):
        texts.append(_parameter(parameters.star_arg, scope, names))
    elif parameters.kwonly_params:
        texts.append("*")
    texts += [_parameter(p, scope, names) for p in parameters.kwonly_params]
    if parameters.star_kwarg is not None:
        texts.append(_parameter(parameters.star_kwarg, scope, names))
    result = ""
    if node.returns is not None:
        result = _annotation(node.returns.annotation, scope, names)
    return Signature(", ".join(texts), result, tuple(names), is_async=node.asynchronous is not None, place=place)


def method(node: cst.FunctionDef, place: NodePath, scope: Scope) -> MethodSource:
    """Read a function in a class body, with its decorators."""
    decorators: list[str] = []
    call = None
    for index, decorator in enumerate(node.decorators):
        expression = decorator.decorator
        where = place / "decorators" / index / "decorator"
        function = expression.func if isinstance(expression, cst.Call) else expression
        decorators.append(scope.resolve(dotted(function) or text_of(function)))
        if decorators[-1] == language.VIRTUAL and isinstance(expression, cst.Call):
            call = specifier(expression, where, scope)
    static = "builtins.staticmethod" in decorators
    return MethodSource(
        node.name.value,
        signature(node, place, scope, skip_first=not static),
        tuple(decorators),
        call,
        node.get_docstring() or "",
        place,
    )


def _parameter(parameter: cst.Param, scope: Scope, names: dict[str, None]) -> str:
    text = f"{parameter.star if isinstance(parameter.star, str) else ''}{parameter.name.value}"
    if parameter.annotation is None:
        return text if parameter.default is None else f"{text}=..."
    text += f": {_annotation(parameter.annotation.annotation, scope, names)}"
    return text if parameter.default is None else f"{text} = ..."


def _annotation(node: cst.BaseExpression, scope: Scope, names: dict[str, None]) -> str:
    names.update(dict.fromkeys(mentioned(node, scope)))
    return one_line(text_of(node))
