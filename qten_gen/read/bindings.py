"""Finds what each name at the top level of a file is bound to: one thing, several, or something that the text does not show.

A declaration is read without running the file. If a name is bound in two ways, as in `try` and `except`, the text does not say
which of them counts. What is bound for type checkers only counts where nothing else binds the name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ..common.records import field, record
from ..model import NO_PATH, ImportedName, NodePath
from .blocks import bound_inside, suites
from .bound_names import bound_names, dotted, imported_names
from .dotted_names import Scope
from .signatures import Function
from .type_variables import TypeAlias

_ALWAYS_THERE = ("torch", "qten_gen", "typing", "typing_extensions")
"""Packages that are installed wherever a declaration runs, so that what is bound if they are missing does not count."""

_GLOBAL = re.compile(r"(?:^|[;:])[ \t]*global\s", re.MULTILINE)

_MAKERS = frozenset(
    "builtins.type collections.namedtuple dataclasses.make_dataclass types.new_class "
    "enum.Enum enum.IntEnum enum.StrEnum enum.Flag enum.IntFlag typing.NamedTuple typing_extensions.NamedTuple "
    "typing.TypedDict typing_extensions.TypedDict typing.TypeVar typing_extensions.TypeVar typing.ParamSpec "
    "typing_extensions.ParamSpec typing.TypeVarTuple typing_extensions.TypeVarTuple "
    "typing.NewType typing_extensions.NewType typing.TypeAliasType typing_extensions.TypeAliasType".split()
)
"""Functions and classes whose result is a type that holds no tensors, or that the reader of aliases knows."""


class Binding(NamedTuple):
    """One statement that binds a name: an import, a definition, or an assignment."""

    imported: ImportedName | None = None
    value: ast.expr | None = None
    """The assigned value; None for an import, a definition, and where the text does not show it, as in a loop."""
    place: NodePath = NO_PATH
    """That of the value."""
    is_definition: bool = False
    for_checkers: bool = False


@record(frozen=True, slots=True)
class Bindings:
    """The bindings of a file that count when it runs, by name."""

    several: Mapping[str, tuple[Binding, ...]] = field(default_factory=dict)
    """Names that are bound in more than one way."""
    values: Mapping[str, Binding] = field(default_factory=dict)
    """Names that are bound once, by an assignment."""
    opaque: frozenset[str] = frozenset()
    """Names that are bound once, to something that the text does not show."""
    imports: Mapping[str, ImportedName] = field(default_factory=dict)
    """Names that stand for one import."""


def bindings(tree: ast.Module, text: str, scope: Scope) -> Bindings:
    """The bindings of a file; `scope` resolves the names of imports."""
    found: dict[str, list[Binding]] = {}
    for name, binding in _of_block(tree.body, NodePath(("body",)), False):
        found.setdefault(name, []).append(binding)
    has_global = _GLOBAL.search(text) is not None
    # Walking over all nodes takes long, and few files have one of these words.
    if has_global or ":=" in text:
        for name, binding in _hidden(tree, has_global):
            found.setdefault(name, []).append(binding)
    several: dict[str, tuple[Binding, ...]] = {}
    values: dict[str, Binding] = {}
    opaque: set[str] = set()
    imports: dict[str, ImportedName] = {}
    for name, bound in found.items():
        counting = _counting(bound, scope)
        first = counting[0]
        if len(counting) > 1:
            several[name] = counting
        elif first.imported is not None:
            imports[name] = first.imported
        elif first.value is not None:
            values[name] = first
        elif not first.is_definition:
            opaque.add(name)
    return Bindings(several, values, frozenset(opaque), imports)


def is_made(value: ast.expr, scope: Scope) -> bool:
    """Whether a value is the result of a call or an expression whose type the text does not show."""
    if isinstance(value, ast.Call):
        return scope.resolve(dotted(value.func) or "") not in _MAKERS
    return isinstance(value, ast.IfExp | ast.BoolOp | ast.NamedExpr | ast.Await) or (
        isinstance(value, ast.Attribute) and dotted(value) is None
    )


def _counting(bound: list[Binding], scope: Scope) -> tuple[Binding, ...]:
    """The bindings of a name that may count when the file runs; one of them where they mean the same."""
    running = [binding for binding in bound if not binding.for_checkers] or bound
    imported = any(binding.imported is not None for binding in running)  # `None` stands for what is not installed
    kept = [binding for binding in running if not (imported and _is_none(binding.value))] or running
    first = kept[0]
    if all(binding.is_definition for binding in kept):
        return (first,)
    if first.imported is not None:
        meant = [scope.resolve_import(binding.imported) for binding in kept if binding.imported is not None]
        same = len(meant) == len(kept) and len({name.replace("typing_extensions.", "typing.") for name in meant}) == 1
        if same or meant[0].partition(".")[0] in _ALWAYS_THERE:
            return (first,)
    if len(kept) > 1 and all(binding.value is not None for binding in kept):
        texts = {ast.dump(binding.value) for binding in kept if binding.value is not None}
        return (first,) if len(texts) == 1 else tuple(kept)
    return tuple(kept)


def _is_none(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _of_block(body: Iterable[ast.stmt], place: NodePath, for_checkers: bool) -> Iterator[tuple[str, Binding]]:
    """The bindings of the statements of a block and of the blocks in it, without those inside expressions."""
    for index, node in enumerate(body):
        where = place / index
        if isinstance(node, ast.If | ast.Try | ast.TryStar | ast.With | ast.AsyncWith):
            for suite, inner, only in suites(node, where):
                yield from _of_block(suite, inner, for_checkers or only)
        for name, binding in _of_statement(node, where, for_checkers):
            yield name, binding._replace(for_checkers=for_checkers)


def _of_statement(node: ast.stmt, place: NodePath, for_checkers: bool) -> Iterator[tuple[str, Binding]]:
    """The bindings of one statement; of a block, those of its head, or of all of a loop or a `match`."""
    match node:
        case ast.Import() | ast.ImportFrom():
            yield from ((name, Binding(imported)) for name, imported in imported_names(node, for_checkers))
        case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
            yield node.name, Binding(is_definition=True)
        case TypeAlias():
            yield node.name.id, Binding(value=node.value, place=place / "value")
        case ast.Assign(targets=targets):
            for target in targets:
                # A part of an unpacked value is not in the text.
                value = node.value if isinstance(target, ast.Name) else None
                yield from ((name, Binding(value=value, place=place / "value")) for name in bound_names(target))
        case ast.AnnAssign(value=ast.expr()):
            yield from ((name, Binding(value=node.value, place=place / "value")) for name in bound_names(node.target))
        case ast.AugAssign(target=target):
            yield from ((name, Binding()) for name in bound_names(target))
        case ast.With(items=items) | ast.AsyncWith(items=items):
            yield from ((name, Binding()) for item in items for name in bound_names(item.optional_vars))
        case ast.For() | ast.AsyncFor() | ast.While() | ast.Match():
            yield from ((name, Binding()) for name in bound_inside(node))


def _hidden(tree: ast.Module, has_global: bool) -> Iterator[tuple[str, Binding]]:
    """The bindings by `:=` at the top level, and by functions that say `global`."""
    for index, statement in enumerate(tree.body):
        is_definition = isinstance(statement, ast.ClassDef | Function)
        if is_definition and not has_global:  # the names that a function binds by `:=` are its own
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Global):
                yield from ((name, Binding()) for name in node.names)
            elif isinstance(node, ast.NamedExpr) and not is_definition:
                yield node.target.id, Binding(value=node.value, place=NodePath(("body", index)))
