"""Finds the names in what a class statement evaluates that nothing binds."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ..model import MethodSource, NodePath
from .blocks import bound_inside
from .bound_names import FUTURE_ANNOTATIONS
from .dotted_names import Scope
from .signatures import Function

Unbound = tuple[str, NodePath]


def unbound_in_class(
    node: ast.ClassDef, place: NodePath, scope: Scope, methods: Iterable[MethodSource], is_inner: bool
) -> Iterator[Unbound]:
    """The names in what a class statement evaluates, each with its place. Annotations of fields and bases are left out.

    The keywords and decorators of an inner class may use the names in the body around it, so they are left out too.
    """
    evaluated = () if scope.imports.get("annotations") == FUTURE_ANNOTATIONS else methods
    doubtful = {
        method.place
        for method in evaluated
        if not all(scope.binds(name.partition(".")[0]) for name in method.signature.names)
    }
    parts = [*(() if is_inner else _head(node, place)), *_body(node, place, doubtful)]
    found = [(name, where) for part, path in parts for name, where in unbound(part, path, scope)]
    if found:
        bound = set(_bound(node))  # most classes have no such name, so what the body binds is found last
        yield from ((name, where) for name, where in found if name not in bound)


def unbound(node: ast.expr, place: NodePath, scope: Scope) -> list[Unbound]:
    """The names in an expression that neither it nor the file binds."""
    if isinstance(node, ast.Constant):
        return []
    if isinstance(node, ast.Name):
        return [] if scope.binds(node.id) else [(node.id, place)]
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}
    missing = {name for name in names if not scope.binds(name)}
    if missing:
        missing -= {*bound_inside(node), *(part.arg for part in ast.walk(node) if isinstance(part, ast.arg))}
    return [*_places(node, place, missing)] if missing else []


def _head(node: ast.ClassDef, place: NodePath) -> Iterator[tuple[ast.expr, NodePath]]:
    yield from _decorators(node, place)
    for index, keyword in enumerate(node.keywords):
        yield keyword.value, place / "keywords" / index / "value"


def _decorators(node: ast.ClassDef | Function, place: NodePath) -> Iterator[tuple[ast.expr, NodePath]]:
    return ((each, place / "decorator_list" / index) for index, each in enumerate(node.decorator_list))


def _body(node: ast.ClassDef, place: NodePath, doubtful: set[NodePath]) -> Iterator[tuple[ast.expr, NodePath]]:
    """The values of the fields, the calls of `check`, the decorators and defaults of the methods, and the annotations of some."""
    for index, statement in enumerate(node.body):
        where = place / "body" / index
        if isinstance(statement, ast.AnnAssign | ast.Assign | ast.Expr) and statement.value is not None:
            yield statement.value, where / "value"
        elif isinstance(statement, Function):
            yield from _decorators(statement, where)
            yield from _defaults(statement.args, where / "args")
            if where in doubtful and not getattr(statement, "type_params", ()):  # type parameters bind names, too
                yield from _annotations(statement, where)


def _defaults(node: ast.arguments, place: NodePath) -> Iterator[tuple[ast.expr, NodePath]]:
    for kind, defaults in (("defaults", node.defaults), ("kw_defaults", node.kw_defaults)):
        for index, default in enumerate(defaults):
            if default is not None and not isinstance(default, ast.Constant):
                yield default, place / kind / index


def _annotations(node: Function, place: NodePath) -> Iterator[tuple[ast.expr, NodePath]]:
    """The annotations of the parameters and of the result."""
    given = node.args
    lists = {"posonlyargs": given.posonlyargs, "args": given.args, "kwonlyargs": given.kwonlyargs}
    found = [
        (each, place / "args" / kind / index) for kind, several in lists.items() for index, each in enumerate(several)
    ]
    found.extend(
        (each, place / "args" / kind) for kind in ("vararg", "kwarg") if (each := getattr(given, kind)) is not None
    )
    yield from ((each.annotation, where / "annotation") for each, where in found if each.annotation is not None)
    if node.returns is not None:
        yield node.returns, place / "returns"


def _bound(node: ast.ClassDef) -> Iterator[str]:
    """The names that the class body binds. An annotation alone binds nothing."""
    for statement in node.body:
        if not isinstance(statement, ast.AnnAssign) or statement.value is not None:
            yield from bound_inside(statement)


def _places(node: ast.AST, place: NodePath, names: set[str]) -> Iterator[Unbound]:
    """The places of names below a node."""
    if isinstance(node, ast.Name) and node.id in names:
        yield node.id, place
    for attribute, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            yield from _places(value, place / attribute, names)
        elif isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, ast.AST):
                    yield from _places(item, place / attribute / index, names)
