"""Reads the text of a Python file into a `SourceFile`.

It reads top-level classes, including those in top-level blocks such as `if` and `try`. Nested classes and classes in functions
are generated in memory when their class statements run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ..model import (
    ClassSource,
    ImportContext,
    ImportedName,
    NodePath,
    RegistrationSource,
    SourceFile,
    TypeExpr,
    TypeVariable,
)
from ..model.diagnostics import Diagnostic
from .annotations import type_expr
from .blocks import BLOCK, bound_inside, inside, suites
from .calls import call_arguments
from .classes import class_source
from .encoding import decode
from .exported import exported
from .imports import bound_names, dotted, imported_names, star_import
from .names import Scope
from .signatures import Function, signature
from .source_lines import lines_of
from .syntax import deepest_line, parse, too_deep
from .type_variables import TypeAlias, class_type_variables, type_variable

_NEW_TYPE = ("typing.NewType", "typing_extensions.NewType")
_TYPE_ALIAS = ("typing.TypeAlias", "typing_extensions.TypeAlias")

NO_CONTEXT = ImportContext()
"""The empty context for reading a file for the first time."""

_BRANCHES = ast.If | ast.Try | ast.TryStar
_WITH = ast.With | ast.AsyncWith

_Statement = tuple[ast.stmt, NodePath, bool]
"""A statement, its place, and whether it is only for type checkers."""


def read(
    data: bytes, path: str, module: str, is_package: bool = False, around: ImportContext = NO_CONTEXT
) -> tuple[SourceFile, tuple[Diagnostic, ...]]:
    """Read a file. If it cannot be read, return an empty source and the diagnostic that says why. It does not raise.

    Args:
        data: The bytes of the file, with an optional encoding declaration or byte order mark.
        path: The path of the file in diagnostics.
        module: Its dotted name, which relative imports start from.
        is_package: Whether it is an `__init__.py`.
        around: What it must know about other files. It is empty for the first reading.
    """
    empty = SourceFile(path, module, is_package=is_package)
    text = decode(data, path)
    if not isinstance(text, str):
        return empty, (text,)
    tree = parse(text, path)
    if not isinstance(tree, ast.Module):
        return empty, (tree,)
    try:
        return _source_file(tree, text, empty, around), ()
    except RecursionError:
        return empty, (too_deep(path, deepest_line(tree)),)


@dataclass(slots=True)
class _Names:
    """The names that the top level binds, collected before any name is resolved."""

    imports: dict[str, ImportedName] = field(default_factory=dict)
    bound: set[str] = field(default_factory=set)
    classes: set[str] = field(default_factory=set)


def _source_file(tree: ast.Module, text: str, empty: SourceFile, around: ImportContext) -> SourceFile:
    """Read a syntax tree. Names are collected first, because a class may use names that are bound further down."""
    statements = list(_statements(tree.body, NodePath(("body",)), type_checking=False))
    names = _names(statements)
    names.imports.update((name, origin) for name, origin in around.star_names.items() if name not in names.bound)
    names.bound.update(around.star_names)
    scope = Scope(
        empty.module,
        empty.is_package,
        names.imports,
        frozenset(names.bound),
        frozenset(names.classes),
        reexports=around.reexports,
        lines=lines_of(text),
    )
    stars = tuple(star for node, _, _ in statements if (star := star_import(node)) is not None)
    classes: dict[str, ClassSource] = {}
    repeated: list[ClassSource] = []
    type_variables: dict[str, TypeVariable] = {}
    aliases: dict[str, TypeExpr] = {}
    registrations: list[RegistrationSource] = []
    for node, place, type_checking in statements:
        if isinstance(node, ast.ClassDef) and not type_checking:
            found = class_source(node, place, scope)
            if found.name in classes:
                repeated.append(found)
            classes[found.name] = found
            type_variables.update(class_type_variables(node, place, scope))
        elif isinstance(node, Function):
            registrations.extend(_registrations(node, place, scope))
        elif isinstance(node, TypeAlias):
            aliases[node.name.id] = type_expr(node.value, place / "value", scope)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and (name := _assigned(node)) is not None:
            if isinstance(node.value, ast.Call):
                variable = type_variable(node.value, place / "value", scope)
                if variable is not None:
                    type_variables[name] = variable
            alias = _alias(node, place, scope)
            if alias is not None:
                aliases[name] = alias
    return replace(
        empty,
        classes=tuple(classes.values()),
        imports=names.imports,
        aliases=aliases,
        type_variables=type_variables,
        registrations=tuple(registrations),
        names=frozenset(names.bound),
        future_annotations=names.imports.get("annotations") == ImportedName("__future__", "annotations"),
        star_imports=stars,
        repeated=tuple(repeated),
        has_star_import=bool(stars) and not around.complete,
        exported=exported(node for node, _, _ in statements),
        is_program="__main__" in text,
        materializes=".on_meta(" in text or ".materialize(" in text,
    )


def _statements(body: Iterable[ast.stmt], place: NodePath, type_checking: bool) -> Iterator[_Statement]:
    """The statements of a block and of its `if`, `try` and `with` blocks, and the classes of its loops and `match`."""
    for index, node in enumerate(body):
        where = place / index
        if not isinstance(node, _BRANCHES):
            yield node, where, type_checking
        if isinstance(node, _BRANCHES | _WITH):
            for suite, inner, only in suites(node, where):
                yield from _statements(suite, inner, type_checking or only)
        elif isinstance(node, BLOCK):
            found = inside(node, where, type_checking)
            yield from ((inner, place, only) for inner, place, only in found if isinstance(inner, ast.ClassDef))


def _names(statements: Sequence[_Statement]) -> _Names:
    """The names that the statements bind. The first import of a name is used, as in `try: import a; except: import b as a`."""
    names = _Names()
    for node, _, type_checking in statements:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name, imported in imported_names(node, type_checking):
                names.imports.setdefault(name, imported)
                names.bound.add(name)
        elif isinstance(node, ast.ClassDef | Function):
            names.bound.add(node.name)
            if isinstance(node, ast.ClassDef) and not type_checking:
                names.classes.add(node.name)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                names.bound.update(bound_names(target))
        elif isinstance(node, ast.AnnAssign | TypeAlias):
            names.bound.update(bound_names(node.name if isinstance(node, TypeAlias) else node.target))
        elif isinstance(node, _WITH):
            names.bound.update(name for item in node.items for name in bound_names(item.optional_vars))
        elif isinstance(node, BLOCK):
            names.bound.update(bound_inside(node))
    return names


def _assigned(node: ast.Assign | ast.AnnAssign) -> str | None:
    """The name that is assigned to; None for several targets or other ones."""
    target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0] if len(node.targets) == 1 else None
    return target.id if isinstance(target, ast.Name) else None


def _alias(node: ast.Assign | ast.AnnAssign, place: NodePath, scope: Scope) -> TypeExpr | None:
    """`X = Int[Tensor, "b"]`, `X: TypeAlias = ...`, and `X = NewType("X", Tensor)`, which counts as a Tensor."""
    value = node.value
    if value is None:
        return None
    if isinstance(value, ast.Call):
        if scope.resolve(dotted(value.func) or "") not in _NEW_TYPE:
            return None
        arguments = call_arguments(value, place / "value")
        return type_expr(arguments[1].value, arguments[1].place, scope) if len(arguments) == 2 else None
    if isinstance(node, ast.AnnAssign):
        is_alias = scope.resolve(dotted(node.annotation) or "") in _TYPE_ALIAS
    else:
        is_alias = dotted(value) is not None or isinstance(value, ast.Attribute | ast.Subscript | ast.BinOp)
    return type_expr(value, place / "value", scope) if is_alias else None


def _registrations(node: Function, place: NodePath, scope: Scope) -> Iterator[RegistrationSource]:
    """The `@Owner.register(Type)` decorators of a function."""
    for index, call in enumerate(node.decorator_list):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or dotted(call.func) is None:
            continue
        if call.func.attr != "register" or len(call.args) != 1 or not all(keyword.arg for keyword in call.keywords):
            continue
        where = place / "decorator_list" / index
        yield RegistrationSource(
            owner=type_expr(call.func.value, where / "func" / "value", scope),
            type=type_expr(call.args[0], where / "args" / 0, scope),
            handler=node.name,
            signature=signature(node, place, scope, skip_first=False),
            replaces=any(keyword.arg == "replace" and dotted(keyword.value) == "True" for keyword in call.keywords),
            place=where,
        )
