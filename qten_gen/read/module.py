"""Reads the text of a Python file into a `SourceFile`, with libcst but without its slow metadata.

It reads top-level classes, including those in top-level blocks such as `if` and `try`. Nested classes and classes in functions
are generated in memory when their class statements run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import libcst as cst

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
from ..model.diagnostics import SYNTAX_ERROR, Diagnostic, diagnostic_at
from .annotations import type_expr
from .blocks import inside, is_type_checking
from .classes import class_source, class_type_variables, type_variable
from .exported import exported
from .imports import bound_names, dotted, imported_names, star_import
from .names import Scope
from .signatures import signature
from .syntax import decode, parse

_TYPE_VARIABLE = ("typing.TypeVar", "typing_extensions.TypeVar")
_NEW_TYPE = ("typing.NewType", "typing_extensions.NewType")
_TYPE_ALIAS = ("typing.TypeAlias", "typing_extensions.TypeAlias")

NO_CONTEXT = ImportContext()
"""The empty context for reading a file for the first time."""

Statement = cst.BaseSmallStatement | cst.BaseCompoundStatement


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
    if not isinstance(tree, cst.Module):
        return empty, (tree,)
    try:
        return replace(
            _source_file(tree, path, module, is_package, around),
            is_program="__main__" in text,
            materializes=".on_meta(" in text or ".materialize(" in text,
        ), ()
    except RecursionError:
        return empty, (
            diagnostic_at(SYNTAX_ERROR, path, "an expression is nested too deeply to be read", line=1, column=1),
        )


@dataclass(slots=True)
class _Names:
    """The names that the top level binds, collected before any name is resolved."""

    imports: dict[str, ImportedName] = field(default_factory=dict)
    bound: set[str] = field(default_factory=set)
    classes: set[str] = field(default_factory=set)


def _source_file(tree: cst.Module, path: str, module: str, is_package: bool, around: ImportContext) -> SourceFile:
    """Read a syntax tree. Names are collected first, because a class may use names that are bound further down."""
    statements = list(_statements(tree.body, NodePath(("body",)), type_checking=False))
    names = _names(statements)
    names.imports.update((name, origin) for name, origin in around.star_names.items() if name not in names.bound)
    names.bound.update(around.star_names)
    scope = Scope(
        module,
        is_package,
        names.imports,
        frozenset(names.bound),
        frozenset(names.classes),
        reexports=around.reexports,
    )
    stars = tuple(star for node, _, _ in statements if (star := star_import(node)) is not None)
    classes: dict[str, ClassSource] = {}
    repeated: list[ClassSource] = []
    type_variables: dict[str, TypeVariable] = {}
    aliases: dict[str, TypeExpr] = {}
    registrations: list[RegistrationSource] = []
    for node, place, type_checking in statements:
        if isinstance(node, cst.ClassDef) and not type_checking:
            found = class_source(node, place, scope)
            if found.name in classes:
                repeated.append(found)
            classes[found.name] = found
            type_variables.update(class_type_variables(node, place, scope))
        elif isinstance(node, cst.FunctionDef):
            registrations.extend(_registrations(node, place, scope))
        elif isinstance(node, cst.Assign | cst.AnnAssign | cst.TypeAlias):
            type_variables.update(_type_variables(node, place, scope))
            aliases.update(_aliases(node, place, scope))
    return SourceFile(
        path=path,
        module=module,
        classes=tuple(classes.values()),
        imports=names.imports,
        aliases=aliases,
        type_variables=type_variables,
        registrations=tuple(registrations),
        names=frozenset(names.bound),
        future_annotations=names.imports.get("annotations") == ImportedName("__future__", "annotations"),
        is_package=is_package,
        star_imports=stars,
        repeated=tuple(repeated),
        has_star_import=bool(stars) and not around.complete,
        exported=exported(node for node, _, _ in statements),
    )


def _statements(
    body: Sequence[cst.BaseStatement | cst.BaseSmallStatement], place: NodePath, type_checking: bool
) -> Iterator[tuple[Statement, NodePath, bool]]:
    """The statements of a block and of its `if`, `try` and `with` blocks, and the classes of its loops and `match`.

    The flag means "only for type checkers".
    """
    for index, node in enumerate(body):
        where = place / index
        if isinstance(node, cst.SimpleStatementLine):
            yield from _statements(node.body, where / "body", type_checking)
        elif isinstance(node, cst.If):
            only = is_type_checking(node.test)
            yield from _statements(node.body.body, where / "body" / "body", type_checking or only)
            if isinstance(node.orelse, cst.If):
                yield from _statements([node.orelse], where / "orelse", type_checking)
            elif node.orelse is not None:
                yield from _statements(node.orelse.body.body, where / "orelse" / "body" / "body", type_checking)
        elif isinstance(node, cst.Try | cst.TryStar):
            yield from _statements(node.body.body, where / "body" / "body", type_checking)
            handlers: Sequence[cst.ExceptHandler | cst.ExceptStarHandler] = node.handlers
            for position, handler in enumerate(handlers):
                inner = where / "handlers" / position / "body" / "body"
                yield from _statements(handler.body.body, inner, type_checking)
            for name, block in (("orelse", node.orelse), ("finalbody", node.finalbody)):
                if block is not None:
                    yield from _statements(block.body.body, where / name / "body" / "body", type_checking)
        elif isinstance(node, cst.With):
            yield node, where, type_checking
            yield from _statements(node.body.body, where / "body" / "body", type_checking)
        elif isinstance(node, cst.BaseSmallStatement | cst.BaseCompoundStatement):
            yield node, where, type_checking
            if isinstance(node, cst.For | cst.While | cst.Match):
                found = inside(node, where, type_checking)
                yield from ((inner, place, only) for inner, place, only in found if isinstance(inner, cst.ClassDef))


def _names(statements: Sequence[tuple[Statement, NodePath, bool]]) -> _Names:
    """The names that the statements bind. The first import of a name is used, as in `try: import a; except: import b as a`."""
    names = _Names()
    for node, _, type_checking in statements:
        if isinstance(node, cst.Import | cst.ImportFrom):
            for name, imported in imported_names(node, type_checking):
                names.imports.setdefault(name, imported)
                names.bound.add(name)
        elif isinstance(node, cst.ClassDef | cst.FunctionDef):
            names.bound.add(node.name.value)
            if isinstance(node, cst.ClassDef) and not type_checking:
                names.classes.add(node.name.value)
        elif isinstance(node, cst.Assign):
            for target in node.targets:
                names.bound.update(bound_names(target.target))
        elif isinstance(node, cst.AnnAssign):
            names.bound.update(bound_names(node.target))
        elif isinstance(node, cst.TypeAlias):
            names.bound.add(node.name.value)
        elif isinstance(node, cst.With):
            names.bound.update(name for item in node.items if item.asname for name in bound_names(item.asname.name))
        elif isinstance(node, cst.For | cst.While | cst.Match):
            names.bound.update(_all_names(node))
    return names


def _all_names(node: cst.CSTNode) -> Iterator[str]:
    """All names in a block that is not read in detail, because any of them may be bound there."""
    if isinstance(node, cst.Name):
        yield node.value
    for child in node.children:
        yield from _all_names(child)


def _assigned(node: cst.Assign | cst.AnnAssign) -> str | None:
    """The name that is assigned to; None for several targets or other ones."""
    target = node.targets[0].target if isinstance(node, cst.Assign) else node.target
    several = isinstance(node, cst.Assign) and len(node.targets) > 1
    return target.value if isinstance(target, cst.Name) and not several else None


def _aliases(
    node: cst.Assign | cst.AnnAssign | cst.TypeAlias, place: NodePath, scope: Scope
) -> Iterator[tuple[str, TypeExpr]]:
    """`X = Int[Tensor, "b"]`, `X: TypeAlias = ...`, `type X = ...`, and `X = NewType("X", Tensor)`, which counts as a Tensor."""
    if isinstance(node, cst.TypeAlias):
        yield node.name.value, type_expr(node.value, place / "value", scope)
        return
    name, value = _assigned(node), node.value
    if name is None or value is None:
        return
    if isinstance(value, cst.Call):
        if scope.resolve(dotted(value.func) or "") in _NEW_TYPE and len(value.args) == 2:
            yield name, type_expr(value.args[1].value, place / "value" / "args" / 1 / "value", scope)
        return
    explicit = (
        isinstance(node, cst.AnnAssign) and scope.resolve(dotted(node.annotation.annotation) or "") in _TYPE_ALIAS
    )
    implicit = isinstance(node, cst.Assign) and isinstance(
        value, cst.Name | cst.Attribute | cst.Subscript | cst.BinaryOperation
    )
    if explicit or implicit:
        yield name, type_expr(value, place / "value", scope)


def _type_variables(
    node: cst.Assign | cst.AnnAssign | cst.TypeAlias, place: NodePath, scope: Scope
) -> Iterator[tuple[str, TypeVariable]]:
    """`T = TypeVar("T", bound=Tensor)`."""
    if isinstance(node, cst.TypeAlias) or not isinstance(call := node.value, cst.Call):
        return
    name = _assigned(node)
    if name is None or scope.resolve(dotted(call.func) or "") not in _TYPE_VARIABLE:
        return
    arguments = list(enumerate(call.args))
    where = place / "value" / "args"
    bound = next(((i, arg.value) for i, arg in arguments if arg.keyword and arg.keyword.value == "bound"), None)
    if bound is not None:
        yield name, type_variable(bound[1], where / bound[0] / "value", scope)
        return
    constraints = [arg.value for _, arg in arguments[1:] if arg.keyword is None]
    yield (
        name,
        type_variable(cst.Tuple([cst.Element(item) for item in constraints]) if constraints else None, where, scope),
    )


def _registrations(node: cst.FunctionDef, place: NodePath, scope: Scope) -> Iterator[RegistrationSource]:
    """The `@Owner.register(Type)` decorators of a function."""
    for index, decorator in enumerate(node.decorators):
        call = decorator.decorator
        if not (isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute) and call.args):
            continue
        if call.args[0].keyword is not None or any(arg.keyword is None for arg in call.args[1:]):
            continue
        if call.func.attr.value != "register" or dotted(call.func) is None:
            continue
        where = place / "decorators" / index / "decorator"
        yield RegistrationSource(
            owner=type_expr(call.func.value, where / "func" / "value", scope),
            type=type_expr(call.args[0].value, where / "args" / 0 / "value", scope),
            handler=node.name.value,
            signature=signature(node, place, scope, skip_first=False),
            replaces=any(_is_replace(arg) for arg in call.args),
            place=where,
        )


def _is_replace(argument: cst.Arg) -> bool:
    """Whether an argument is `replace=True`."""
    named = argument.keyword is not None and argument.keyword.value == "replace"
    return named and isinstance(argument.value, cst.Name) and argument.value.value == "True"
