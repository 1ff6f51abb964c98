"""Reads the text of a Python file into a `SourceFile`.

It reads top-level classes, including those in top-level blocks such as `if` and `try`, and the classes in their bodies. Those and
classes in functions are generated in memory when their class statements run.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from ..common.naming import REPLACE
from ..common.records import field, record, replace
from ..model import (
    DYNAMIC,
    ClassSource,
    ImportContext,
    ImportedName,
    NodePath,
    RegistrationSource,
    SourceFile,
    TypeExpr,
    TypeVariable,
    language,
)
from ..model.diagnostics import Diagnostic
from .annotations import (
    Meanings,
    add_class_names,
    alias,
    type_expr,
    type_parameter_names,
    type_variable,
    variables_of,
    with_inner,
)
from .bindings import (
    BLOCK,
    Binding,
    Bindings,
    Function,
    bound_at_top,
    bound_names,
    counting,
    dotted,
    exported,
    inside,
    is_made,
    star_import,
    suites,
)
from .classes import class_head, class_source, inner_classes
from .dotted_names import Scope
from .field_uses import replacements
from .signatures import signature
from .suppressions import suppressed
from .syntax import decode, lines_of, parse, too_deep
from .values import Written, constant_text, specifier

NO_CONTEXT = ImportContext()
"""The empty context for reading a file for the first time."""

_BRANCHES = ast.If | ast.Try | ast.TryStar
_WITH = ast.With | ast.AsyncWith

_BINDS_BY_NAME = re.compile(
    r"(?:globals(?<=\bglobals)|locals(?<=\blocals)|vars(?<=\bvars))\(\)(?:\.update\(|\[[^\]\n]*\]\s*=[^=])"
)
"""A text that binds names which the file need not show: `globals()[name] = ...`."""

_Statement = tuple[ast.stmt, NodePath, bool]
"""A statement, its place, and whether it is only for type checkers."""


def read(
    data: bytes,
    path: str,
    module: str,
    is_package: bool = False,
    around: ImportContext = NO_CONTEXT,
    heads_only: bool = False,
) -> tuple[SourceFile, tuple[Diagnostic, ...]]:
    """Read a file. If it cannot be read, return an empty source and the diagnostic that says why. It does not raise.

    Args:
        data: The bytes of the file, with an optional encoding declaration or byte order mark.
        path: The path of the file in diagnostics.
        module: Its dotted name, which relative imports start from.
        is_package: True if it is an `__init__.py`.
        around: What it must know about other files. It is empty for the first reading.
        heads_only: True to leave out the bodies of classes, for whoever asks only which classes there are.
    """
    empty = SourceFile(path, module, is_package=is_package)
    text = decode(data, path)
    if not isinstance(text, str):
        return empty, (text,)
    tree = parse(text, path)
    if not isinstance(tree, ast.Module):
        return empty, (tree,)
    try:
        return _source_file(tree, text, empty, around, heads_only), ()
    except RecursionError:
        # The breadth-first walk ends with a node of the deepest level.
        *_, line = (node.lineno for node in ast.walk(tree) if isinstance(node, Written))
        return empty, (too_deep(path, line),)


@record(slots=True)
class _Found:
    """The content of a file's statements, in their order."""

    meant: Meanings
    heads_only: bool
    classes: dict[str, ClassSource] = field(default_factory=dict)
    """The last class of each name at the top level."""
    within: dict[str, ClassSource] = field(default_factory=dict)
    """Classes in classes, by their qualified names."""
    repeated: list[ClassSource] = field(default_factory=list)
    type_variables: dict[str, TypeVariable] = field(default_factory=dict)
    registrations: list[RegistrationSource] = field(default_factory=list)


def _source_file(tree: ast.Module, text: str, empty: SourceFile, around: ImportContext, heads_only: bool) -> SourceFile:
    """Read a syntax tree. Names are collected first, because a class may use names that are bound further down."""
    statements = list(_statements(tree.body, NodePath(("body",)), type_checking=False))
    scope, known = _names(tree, text, statements, empty, around)
    found = _Found(_meanings(known, scope), heads_only)
    for node, place, type_checking in statements:
        # A class for type checkers does not exist when the file runs.
        if isinstance(node, ast.ClassDef) and not type_checking:
            _take_class(node, place, scope, found)
        elif isinstance(node, Function):
            found.registrations.extend(_registrations(node, place, scope))
            if not type_checking and _makes_specifier(node, scope):
                found.meant.makers.add(node.name)
    for name, binding in known.values.items():
        found.type_variables.update(variables_of(binding.type_statement, binding.place, scope, name))
        if isinstance(binding.value, ast.Call):
            variable = type_variable(binding.value, binding.place, scope)
            if variable is not None:
                found.type_variables[name] = variable
    may_replace = not heads_only and re.search(REPLACE, text) is not None
    stars = tuple(star for node, _, _ in statements if (star := star_import(node)) is not None)
    return replace(
        empty,
        classes=tuple(found.classes.values()),
        inner=tuple(found.within.values()),
        imports=scope.imports,
        aliases=found.meant.aliases,
        alternatives=found.meant.alternatives,
        constants=found.meant.constants,
        nested=found.meant.nested,
        makers=frozenset(found.meant.makers),
        type_variables=found.type_variables,
        registrations=tuple(found.registrations),
        replacements=tuple(replacements(tree, scope)) if may_replace else (),
        names=scope.bound,
        star_imports=stars,
        repeated=tuple(found.repeated),
        has_star_import=(bool(stars) and not around.complete) or _BINDS_BY_NAME.search(text) is not None,
        exported=exported(node for node, _, _ in statements),
        is_program="__main__" in text,
        suppressed=suppressed(text, tree, scope.lines),
    )


def _names(
    tree: ast.Module, text: str, statements: list[_Statement], empty: SourceFile, around: ImportContext
) -> tuple[Scope, Bindings]:
    """The scope of a file, and the bindings of its names that count when it runs."""
    bound = bound_at_top(tree, text)
    imports: dict[str, ImportedName] = {}
    for name, several in bound.items():
        for binding in several:
            # The first import of a name is used, as in `try: import a; except: import b as a`.
            if binding.imported is not None:
                imports.setdefault(name, binding.imported)
    # A definition wins over a star import.
    imports.update((name, origin) for name, origin in around.star_names.items() if name not in bound)
    classes = {name for name, several in bound.items() if any(b.is_class and not b.for_checkers for b in several)}
    # An annotation without a value binds nothing, but a checker sees the name.
    annotated = [node.target for node, _, _ in statements if isinstance(node, ast.AnnAssign)]
    names = frozenset((*bound, *(name for each in annotated for name in bound_names(each)), *around.star_names))
    scope = Scope(empty.module, empty.is_package, imports, names, frozenset(classes))
    # Which bindings mean the same is told by what this file alone imports: reexports follow in the scope that is returned.
    known = counting(bound, scope)
    for name in (*known.several, *known.values, *known.opaque):
        imports.pop(name, None)  # an import that does not count when the file runs, or not alone
    imports.update(known.imports)
    return replace(scope, reexports=around.reexports, lines=lines_of(text)), known


def _take_class(node: ast.ClassDef, place: NodePath, scope: Scope, found: _Found) -> None:
    """Add a class, the classes in it, and what their bodies bind."""
    around = with_inner(scope, node, node.name)
    source = class_head(node, place, around) if found.heads_only else class_source(node, place, scope)
    if source.name in found.classes:
        found.repeated.append(source)
    found.classes[source.name] = source
    found.type_variables.update(variables_of(node, place, scope, node.name))
    add_class_names(node, place, scope, node.name, found.meant)
    for statement, where, outer, around_it in inner_classes(node, place, scope, node.name):
        qualname = f"{outer}.{statement.name}"
        found.type_variables.update(variables_of(statement, where, scope, qualname))
        add_class_names(statement, where, scope, qualname, found.meant)
        if not found.heads_only:
            found.within[qualname] = class_source(statement, where, scope, outer, around_it)


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


def _meanings(known: Bindings, scope: Scope) -> Meanings:
    """The meanings of the names that are assigned or bound several times."""
    found = Meanings()
    for name, binding in known.values.items():
        assert binding.value is not None
        parameters = {each: f"{name}.{each}" for each in type_parameter_names(binding.type_statement)}
        meant = alias(binding.value, binding.place, replace(scope, inner=parameters) if parameters else scope)
        if meant is not None:
            found.aliases[name] = meant
        elif is_made(binding.value, scope):
            found.alternatives[name] = (TypeExpr(DYNAMIC),)
        if (text := constant_text(binding.value, scope)) is not None:
            found.constants[name] = text
        if specifier(binding.value, binding.place, scope) is not None:
            found.makers.add(name)
    for name in known.opaque:
        found.alternatives[name] = (TypeExpr(DYNAMIC),)
    for name, several in known.several.items():
        found.alternatives[name] = tuple(_meant(name, binding, scope) for binding in several)
    return found


def _meant(name: str, binding: Binding, scope: Scope) -> TypeExpr:
    """The meaning as a type that one of several bindings gives its name."""
    if binding.imported is not None:
        return TypeExpr(scope.resolve_import(binding.imported))
    if binding.value is None:
        return TypeExpr(DYNAMIC)
    meant = alias(binding.value, binding.place, scope)
    if meant is not None and name not in meant.names:  # an alias of itself says nothing
        return meant
    return TypeExpr(DYNAMIC)


def _makes_specifier(node: Function, scope: Scope) -> bool:
    """True if a function calls a specifier anywhere."""
    # Looking for the words first saves a walk over most functions.
    words = [name for name, origin in scope.imports.items() if origin.module.partition(".")[0] == language.PACKAGE]
    lines = scope.lines[node.lineno - 1 : node.end_lineno]
    if not any(word in line for word in words for line in lines):
        return False
    return any(
        isinstance(part, ast.Call) and scope.resolve(dotted(part.func) or "") in language.SPECIFIERS
        for part in ast.walk(node)
    )


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
