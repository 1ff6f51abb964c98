"""Reads function definitions into signatures as text."""

from __future__ import annotations

import ast

from ..common.records import replace
from ..model import MethodSource, NodePath, Signature, language
from ..model.dimensions import annotation_text
from .annotations import mentioned
from .bindings import Function, dotted, string_value
from .dotted_names import Scope
from .values import called, specifier, text_of


def positional_parameters(node: Function) -> list[ast.arg]:
    """The parameters that take positional arguments, `self` among them."""
    return [*node.args.posonlyargs, *node.args.args]


def signature(node: Function, place: NodePath, scope: Scope, *, skip_first: bool) -> Signature:
    """The parameters and result as written, defaults only where they are short literals. `skip_first` leaves out `self`."""
    names: dict[str, None] = {}
    given, positional = node.args, positional_parameters(node)
    required = len(positional) - len(given.defaults)
    skipped = 1 if skip_first and positional else 0
    defaults: list[ast.expr | None] = [*[None] * required, *given.defaults]
    texts = [
        _parameter(parameter, default, scope, names)
        for parameter, default in zip(positional[skipped:], defaults[skipped:], strict=True)
    ]
    if len(given.posonlyargs) > skipped:  # behind `self` alone, there is nothing to set apart
        texts.insert(len(given.posonlyargs) - skipped, "/")
    if given.vararg is not None:
        texts.append("*" + _parameter(given.vararg, None, scope, names))
    elif given.kwonlyargs:
        texts.append("*")
    for parameter, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        texts.append(_parameter(parameter, default, scope, names))
    if given.kwarg is not None:
        texts.append("**" + _parameter(given.kwarg, None, scope, names))
    result = "" if node.returns is None else _annotation(node.returns, scope, names)
    return Signature(", ".join(texts), result, tuple(names), place)


def method(node: Function, place: NodePath, scope: Scope) -> MethodSource:
    """Read a function in a class body, with its decorators."""
    functions = [called(decorator) for decorator in node.decorator_list]
    decorators = tuple(scope.resolve(dotted(each) or text_of(each, scope.lines)) for each in functions)
    takes_object = "builtins.staticmethod" not in decorators
    read = signature(node, place, scope, skip_first=takes_object)
    found = MethodSource(node.name, read, decorators, doc=docstring(node), place=place)
    if language.VIRTUAL not in decorators:
        return found
    calls = (
        specifier(decorator, place / "decorator_list" / index, scope)
        for index, decorator in enumerate(node.decorator_list)
        if decorators[index] == language.VIRTUAL and isinstance(decorator, ast.Call)
    )
    return replace(found, specifier=next(calls, None))


def _parameter(parameter: ast.arg, default: ast.expr | None, scope: Scope, names: dict[str, None]) -> str:
    if parameter.annotation is None:
        return parameter.arg if default is None else f"{parameter.arg}={_default(default, scope)}"
    text = f"{parameter.arg}: {_annotation(parameter.annotation, scope, names)}"
    return text if default is None else f"{text} = {_default(default, scope)}"


def _default(node: ast.expr, scope: Scope) -> str:
    """A default as a signature shows it: a short literal, or `...` for everything else."""
    # `-1` is an operation on a constant.
    inner = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
    text = text_of(node, scope.lines) if isinstance(inner, ast.Constant) else "..."
    return text if len(text) <= 50 else "..."


def _annotation(node: ast.expr, scope: Scope, names: dict[str, None]) -> str:
    names.update(dict.fromkeys(mentioned(node, scope)))
    text = text_of(node, scope.lines)
    return (annotation_text(text) or text) if string_value(node) is not None else text  # without quotes


def docstring(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """The docstring of a class or a function; empty if it has none."""
    return text_of_string(node.body[0])


def text_of_string(node: ast.stmt) -> str:
    """The text of a string statement, which documents what is above it; empty for another statement."""
    text = string_value(node.value) if isinstance(node, ast.Expr) else None
    return cleandoc(text) if text else ""


def cleandoc(text: str) -> str:
    """The same as `inspect.cleandoc` since Python 3.13. Importing `inspect` takes longer than reading the file.

    >>> cleandoc(" Tokens.\\n\\n        As ids.\\n    ")
    'Tokens.\\n\\nAs ids.'
    """
    first, *others = text.expandtabs().split("\n")
    margin = min((len(line) - len(line.lstrip(" ")) for line in others if line.strip(" ")), default=None)
    lines = [first.lstrip(" "), *(line[margin:] for line in others)]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return "\n".join(lines)
