"""Reads the names that a class body binds beside its fields: aliases, constants and nested classes."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from ..common.records import field, record, replace
from ..model import DYNAMIC, NodePath, TypeExpr
from .aliases import alias
from .annotations import type_expr
from .bindings import is_made
from .bound_names import bound_names
from .calls import positional
from .dotted_names import Scope
from .signatures import Function
from .type_variables import type_parameter_names
from .values import constant_text, specifier


@record(slots=True)
class Meanings:
    """The meanings of the names of a file as far as its text shows them; those in a class are written `Batch.Own`."""

    aliases: dict[str, TypeExpr] = field(default_factory=dict)
    alternatives: dict[str, tuple[TypeExpr, ...]] = field(default_factory=dict)
    """Names with several values, or with one that is known only at run time."""
    constants: dict[str, str] = field(default_factory=dict)
    nested: dict[str, tuple[TypeExpr, ...]] = field(default_factory=dict)
    makers: set[str] = field(default_factory=set)


def with_inner(scope: Scope, node: ast.ClassDef, qualname: str) -> Scope:
    """The scope inside a class body: type parameters, nested classes and what is assigned there come first."""
    names = [*type_parameter_names(node), *(name for name, _, _ in _assigned(node))]
    names += [nested.name for nested in node.body if isinstance(nested, ast.ClassDef)]
    return replace(scope, inner={name: f"{qualname}.{name}" for name in names})


def add_class_names(node: ast.ClassDef, place: NodePath, scope: Scope, qualname: str, found: Meanings) -> None:
    """Add the names that the body of a class binds once."""
    inner = with_inner(scope, node, qualname)
    for name, value, index in _assigned(node):
        meant = alias(value, place / "body" / index / "value", inner)
        if meant is not None:
            found.aliases[f"{qualname}.{name}"] = meant
        elif is_made(value, inner):
            found.alternatives[f"{qualname}.{name}"] = (TypeExpr(DYNAMIC),)
    for name, value in _constants(node):
        if (text := constant_text(value, scope)) is not None:
            found.constants[f"{qualname}.{name}"] = text
        if specifier(value, place, scope) is not None:
            found.makers.add(f"{qualname}.{name}")
    for index, statement in enumerate(node.body):
        if isinstance(statement, ast.ClassDef):
            bases = positional(statement.bases, place / "body" / index / "bases")
            found.nested[f"{qualname}.{statement.name}"] = tuple(
                type_expr(base.value, base.place, inner, base=True) for base in bases if not base.star
            )


def _assigned(node: ast.ClassDef) -> Iterator[tuple[str, ast.expr, int]]:
    """The plain assignments of the body to a name that it binds once and does not annotate, with their index."""
    assigned = [(statement, index) for index, statement in enumerate(node.body) if isinstance(statement, ast.Assign)]
    bound = Counter(_bound(node)) if assigned else {}
    for statement, index in assigned:
        match statement.targets:
            case [ast.Name(id=name)] if bound[name] == 1:
                yield name, statement.value, index


def _constants(node: ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    bound = Counter(_bound(node))
    for statement in node.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if bound[name] == 1:
                yield name, value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value) if bound[name] == 1:
                yield name, value


def _bound(node: ast.ClassDef) -> Iterator[str]:
    """Every binding in the class body, without those of nested functions and classes."""
    waiting: list[ast.AST] = [*node.body]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, ast.Assign):
            yield from (name for target in inner.targets for name in bound_names(target))
        elif isinstance(inner, ast.AnnAssign | ast.AugAssign | ast.NamedExpr | ast.For):
            yield from bound_names(inner.target)
        if isinstance(inner, Function):
            waiting += [*inner.decorator_list, *inner.args.defaults, *(item for item in inner.args.kw_defaults if item)]
        elif not isinstance(inner, ast.ClassDef):
            waiting += ast.iter_child_nodes(inner)
