"""Expressions that certainly make a module, as functions of fields: `submodule(lambda dim: nn.Sequential(...), "dim")`.

What no specifier says, such as a list of different members, stays as it is written, in a function of the fields that it reads.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from ..opened import OpenFile
from .context import CLASSES, Context, holds_of, quoted
from .expressions import free_names, over_fields
from .pieces import Stays

_LONGEST = 320
"""The longest text of a function that a person would still read there."""

_SAME_MODULE = frozenset(
    "torch.nn.utils.weight_norm torch.nn.utils.spectral_norm torch.nn.utils.parametrizations.weight_norm"
    " torch.nn.utils.parametrizations.spectral_norm torch.nn.utils.parametrizations.orthogonal copy.deepcopy".split()
)
"""Functions that return a module for a module."""

_IDENTITY = "torch.nn.Identity"
_OF_MODULE = frozenset("to eval train float half double bfloat16 cuda cpu requires_grad_ apply".split())
"""Methods of nn.Module that return it."""


def made_by_function(
    node: ast.expr, context: Context, index: Mapping[str, ast.expr] | None
) -> tuple[str, tuple[str, ...]] | None:
    """The annotation and the arguments of `submodule` for what an expression makes; None if it is not certain to be a module.

    Raises:
        Stays: the function would be too long to read.
    """
    found = over_fields(node, context, index)
    kind = None if found is None else module_type(found, context)
    if found is None or kind is None:
        return None
    body = ast.unparse(found)
    if len(body) > _LONGEST:
        raise Stays("a function that makes the child would be too long to read", node)
    fields = [name for name in free_names(found) if name in context.types or (index and name == "index")]
    if any(context.may_be_module(name) for name in fields):
        return None
    head = f"lambda {', '.join(fields)}" if fields else "lambda"
    return kind, (f"{head}: {body}", *map(quoted, fields))


def module_type(node: ast.expr, context: Context) -> str | None:
    """The annotation for what an expression over fields makes, if that is certainly a module."""
    match node:
        case ast.IfExp(body=body, orelse=orelse):
            kinds = [module_type(each, context) for each in (body, orelse)]
            if any(isinstance(each, ast.Call) and context.meaning(each.func) == _IDENTITY for each in (body, orelse)):
                kinds = [kind or _of_library(each, context) for kind, each in zip(kinds, (body, orelse), strict=True)]
            return _union(kinds)
        case ast.Subscript(value=ast.Dict(values=[_, *_] as values)):
            return _union([module_type(each, context) for each in values])
        case ast.Call(func=ast.Attribute(value=module, attr=method)) if method in _OF_MODULE:
            return module_type(module, context)
        case ast.Call(func=function, args=args):
            if context.meaning(function) in _SAME_MODULE:
                return module_type(args[0], context) if args else None
            return _made_by(function, context)
    return None


def _of_library(node: ast.expr, context: Context) -> str | None:
    """The class of a library that an expression constructs. In place of `nn.Identity`, it is one of modules."""
    match node:
        case ast.Call(func=function) if context.is_class_of_library(context.meaning(function)):
            return ast.unparse(function)
    return None


def _made_by(function: ast.expr, context: Context) -> str | None:
    """The annotation for what a class of modules or a function makes."""
    match function:
        case ast.IfExp(body=body, orelse=orelse):
            return _union([_made_by(body, context), _made_by(orelse, context)])
        case ast.Subscript(value=ast.Dict(values=[_, *_] as values)) | ast.BoolOp(values=values):
            return _union([_made_by(each, context) for each in values])
        case ast.Name(id=name) if (context.types.get(name) or "").startswith(CLASSES):
            return module_name(context)
        case ast.Call(func=called, args=[made, *_]) if context.meaning(called) == "functools.partial":
            return _made_by(made, context)
    qualified = context.meaning(function)
    if not qualified:
        return None
    if context.is_module_class(qualified):
        written = ast.unparse(function)
        return written if context.is_bound_above(function) else f'"{written}"'
    return module_name(context) if returns_module(qualified, context) else None


def _union(kinds: list[str | None]) -> str | None:
    found = [each for each in kinds if each is not None]
    if len(found) < len(kinds):
        return None
    plain = list(dict.fromkeys(found))
    if "nn.Module" in plain:
        return "nn.Module"
    return plain[0] if len(plain) == 1 else _quoted_together(plain)


def _quoted_together(kinds: list[str]) -> str:
    text = " | ".join(each.strip('"') for each in kinds)
    return f'"{text}"' if any(each.startswith('"') for each in kinds) else text


def or_none(annotation: str) -> str:
    """An annotation that allows None."""
    return f'"{annotation[1:-1]} | None"' if annotation.startswith('"') else f"{annotation} | None"


def module_name(context: Context) -> str:
    """How the file writes `nn.Module`."""
    return "nn.Module" if context.file.scope.resolve("nn") == "torch.nn" else context.spell("Module", "torch.nn")


def returns_module(qualified: str, context: Context) -> bool:
    """Whether a function or method of the project returns a module, whatever it is given."""
    return holds_of(qualified, context, context.project.makers, _always_module)


def _always_module(node: ast.FunctionDef, file: OpenFile, context: Context) -> bool:
    if any(ast.unparse(each) not in ("staticmethod", "classmethod") for each in node.decorator_list):
        return False
    if node.returns is not None:
        return context.is_module_class(context.project.meaning(file, node.returns))
    inner = Context(file, context.project, context.found)
    inner.names.update(dict.fromkeys(_bound(node)))
    values = [each.value for each in _own_statements(node) if isinstance(each, ast.Return)]
    always = all(value is not None and module_type(value, inner) is not None for value in values)
    return bool(values) and always and ends(node.body)


def _bound(node: ast.FunctionDef) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.arg):
            yield each.arg
        elif isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            yield each.id


def _own_statements(node: ast.FunctionDef) -> Iterator[ast.stmt]:
    """The statements of a function, without those of functions inside it."""
    waiting: list[ast.AST] = [*node.body]
    while waiting:
        each = waiting.pop()
        if isinstance(each, ast.stmt):
            yield each
        if not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            waiting += ast.iter_child_nodes(each)


def ends(statements: list[ast.stmt]) -> bool:
    """Whether statements return or raise, whichever way they take."""
    match statements:
        case [*_, ast.Return() | ast.Raise()]:
            return True
        case [*_, ast.If(body=body, orelse=orelse)]:
            return ends(body) and ends(orelse)
    return False
