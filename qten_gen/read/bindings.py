"""Finds the names that statements bind, in blocks too, and the names that a file exports."""

from __future__ import annotations

import ast
import re
import sys
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from .. import __all__ as PUBLIC_NAMES
from ..common.records import field, record
from ..model import NO_PATH, ImportedName, NodePath, language
from .dotted_names import Scope

if sys.version_info >= (3, 12):
    TypeAlias = ast.TypeAlias
else:

    class TypeAlias(ast.stmt):
        """The statement `type Name = value`, which this version of Python does not parse."""

        name: ast.Name
        value: ast.expr


Function = ast.FunctionDef | ast.AsyncFunctionDef
"""The statements that define a function."""

FUTURE_ANNOTATIONS = ImportedName("__future__", "annotations")
"""The import that binds the name `annotations` where annotations are not evaluated."""


def dotted(node: ast.AST) -> str | None:
    """The text of a name or of a chain of attributes; None for any other expression. `None`, `True` and `False` are names too."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        names.append(node.id)
    elif isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool)):
        names.append(repr(node.value))
    else:
        return None
    return ".".join(reversed(names))


_KNOWN_STARS: dict[str, Sequence[str]] = {
    language.PACKAGE: PUBLIC_NAMES,
    "typing": typing.__all__,
    "typing_extensions": typing.__all__,
    "dataclasses": (
        "dataclass field Field FrozenInstanceError InitVar KW_ONLY MISSING fields asdict astuple make_dataclass replace "
        "is_dataclass"
    ).split(),
}
"""The names that `from module import *` binds, for modules with a meaning in declarations. `typing_extensions` has more."""


def star_import(node: ast.stmt) -> str | None:
    """The module of `from module import *`, as written; None if its names are known, and for other statements."""
    if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
        return source if (source := _source(node)) not in _KNOWN_STARS else None
    return None


def imported_names(node: ast.Import | ast.ImportFrom, type_checking: bool) -> Iterator[tuple[str, ImportedName]]:
    """The names that an import statement binds. For a star import, they are known only for a few modules."""
    source = _source(node) if isinstance(node, ast.ImportFrom) else ""
    for alias in node.names:
        name = alias.name
        if name == "*":
            known = _KNOWN_STARS.get(source, ())
            yield from ((name, ImportedName(source, name, type_checking)) for name in known)
        elif isinstance(node, ast.ImportFrom):
            yield alias.asname or name, ImportedName(source, name, type_checking)
        elif alias.asname:
            yield alias.asname, ImportedName(name, None, type_checking)
        else:
            root = name.partition(".")[0]
            yield root, ImportedName(root, None, type_checking)


def _source(node: ast.ImportFrom) -> str:
    """The module of a from-import as written, with its dots."""
    return "." * node.level + (node.module or "")


def bound_names(target: ast.expr | None) -> Iterator[str]:
    """The plain names that an assignment target binds."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Tuple | ast.List):
        for element in target.elts:
            yield from bound_names(element)
    elif isinstance(target, ast.Starred):
        yield from bound_names(target.value)


BLOCK = ast.If | ast.Try | ast.TryStar | ast.With | ast.AsyncWith | ast.For | ast.AsyncFor | ast.While | ast.Match


def suites(node: ast.stmt, place: NodePath) -> Iterator[tuple[list[ast.stmt], NodePath, bool]]:
    """The lists of statements in a block: its body, its handlers, its cases, `else` and `finally`.

    The flag means "only for type checkers".
    """
    only = isinstance(node, ast.If) and _is_type_checking(node.test)
    yield getattr(node, "body", []), place / "body", only
    for name in ("handlers", "cases"):
        for index, part in enumerate(getattr(node, name, ())):
            yield part.body, place / name / index / "body", False
    for name in ("orelse", "finalbody"):
        yield getattr(node, name, []), place / name, False


def inside(node: ast.stmt, place: NodePath, checking: bool = False) -> Iterator[tuple[ast.stmt, NodePath, bool]]:
    """The statements inside a block, at any depth.

    The flag means "only for type checkers". Classes and functions are yielded as a whole.
    """
    for suite, where, only in suites(node, place):
        for index, statement in enumerate(suite):
            if isinstance(statement, BLOCK):
                yield from inside(statement, where / index, checking or only)
            else:
                yield statement, where / index, checking or only


def statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module, class or function, with the content of each block in its place."""
    for node in body:
        if isinstance(node, BLOCK):
            yield from (found for found, _, _ in inside(node, NodePath()))
        else:
            yield node


ANNOTATIONS = "__annotations__"
COMPREHENSION = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def touched(node: ast.AST) -> Iterator[str]:
    """The names that a statement binds or deletes in its own scope, blocks included; `__annotations__` if it changes that."""
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name
        case ast.Import() | ast.ImportFrom():
            yield from (name for name, _ in imported_names(node, False))
        case ast.Subscript(
            value=ast.Name("__annotations__") | ast.Call(func=ast.Name("locals" | "vars")), ctx=context
        ) if not isinstance(context, ast.Load):
            yield ANNOTATIONS
        case ast.Call(
            func=ast.Name("exec")
            | ast.Attribute(value=ast.Name("__annotations__"), attr="update" | "pop" | "setdefault")
        ):
            yield ANNOTATIONS
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.ExceptHandler(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name
    inside: Iterable[ast.AST | None] = ast.iter_child_nodes(node)
    if isinstance(node, Function):
        inside = (*node.decorator_list, *node.args.defaults, *node.args.kw_defaults)
    elif isinstance(node, ast.ClassDef | ast.Lambda | COMPREHENSION):
        inside = ()
    for part in inside:
        yield from touched(part) if part is not None else ()


def _is_type_checking(test: ast.expr) -> bool:
    """True if a condition is `TYPE_CHECKING`, with or without a module, such as `typing` or `t`."""
    return (dotted(test) or "").rpartition(".")[2] == "TYPE_CHECKING"


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
    """The place of the value."""
    is_definition: bool = False
    is_class: bool = False
    for_checkers: bool = False
    is_conditional: bool = False
    """True if it stands in a block."""
    type_statement: TypeAlias | None = None


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


def bound_at_top(tree: ast.Module, text: str) -> dict[str, list[Binding]]:
    """The bindings of each name that the top level of a file binds, blocks included, in their order."""
    found: dict[str, list[Binding]] = {}
    for name, binding in _of_block(tree.body, NodePath(("body",)), False):
        found.setdefault(name, []).append(binding)
    has_global = "global" in text and _GLOBAL.search(text) is not None
    # Walking over all nodes takes long, and few files have one of these words.
    if has_global or ":=" in text:
        for name, binding in _hidden(tree, has_global):
            found.setdefault(name, []).append(binding)
    return found


def counting(found: Mapping[str, list[Binding]], scope: Scope) -> Bindings:
    """The bindings that count when a file runs; `scope` resolves the names of imports."""
    several: dict[str, tuple[Binding, ...]] = {}
    values: dict[str, Binding] = {}
    opaque: set[str] = set()
    imports: dict[str, ImportedName] = {}
    for name, bound in found.items():
        kept = _counting(bound, scope)
        first = kept[0]
        if len(kept) > 1:
            several[name] = kept
        elif first.imported is not None:
            imports[name] = first.imported
        elif first.value is not None:
            values[name] = first
        elif not first.is_definition:
            opaque.add(name)
    return Bindings(several, values, frozenset(opaque), imports)


def is_made(value: ast.expr, scope: Scope) -> bool:
    """True if a value is the result of a call or an expression whose type the text does not show."""
    if isinstance(value, ast.Call):
        return scope.resolve(dotted(value.func) or "") not in _MAKERS
    return isinstance(value, ast.IfExp | ast.BoolOp | ast.NamedExpr | ast.Await | ast.Dict | ast.List) or (
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
        instead = all(binding.is_conditional for binding in kept[1:])  # of what is not installed
        if same or (instead and meant[0].partition(".")[0] in _ALWAYS_THERE):
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
            yield name, binding._replace(for_checkers=for_checkers, is_conditional=len(where.steps) > 2)


def _of_statement(node: ast.stmt, place: NodePath, for_checkers: bool) -> Iterator[tuple[str, Binding]]:
    """The bindings of one statement; for a block, the bindings of its head, or of all of a loop or a `match`."""
    match node:
        case ast.Import() | ast.ImportFrom():
            yield from ((name, Binding(imported)) for name, imported in imported_names(node, for_checkers))
        case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
            yield node.name, Binding(is_definition=True, is_class=isinstance(node, ast.ClassDef))
        case TypeAlias():
            yield node.name.id, Binding(value=node.value, place=place / "value", type_statement=node)
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
            yield from ((name, Binding()) for name in touched(node))


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


def exported(statements: Iterable[ast.stmt]) -> tuple[str, ...] | None:
    """The names in the `__all__` of a file; None if it has none, or one that is computed."""
    found: list[str] | None = None
    for node in statements:
        change = _change(node)
        if change is not None:
            starts_anew, value = change
            names = _names(value)
            if names is None or (found is None and not starts_anew):  # it extends a list that a star import binds
                return None
            found = names if starts_anew or found is None else [*found, *names]
    return None if found is None else tuple(dict.fromkeys(found))


def _change(node: ast.stmt) -> tuple[bool, ast.expr | None] | None:
    """True if a statement assigns `__all__` or extends it, and the value; None for any other statement."""
    match node:
        case ast.Assign(targets=targets) if any(dotted(target) == "__all__" for target in targets):
            return True, node.value
        case ast.AnnAssign(target=ast.Name("__all__")):
            return True, node.value
        case ast.AugAssign(target=ast.Name("__all__"), op=ast.Add()):
            return False, node.value
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name("__all__")))):
            return False, None
    return None


def _names(value: ast.expr | None) -> list[str] | None:
    """The strings in a list or tuple, or in a sum of these; None for anything else."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        left, right = _names(value.left), _names(value.right)
        return None if left is None or right is None else [*left, *right]
    if not isinstance(value, ast.List | ast.Tuple):
        return None
    try:
        found: list[object] = [*ast.literal_eval(value)]
    except (ValueError, TypeError):
        return None
    names = [name for name in found if isinstance(name, str)]
    return names if len(names) == len(found) else None


def string_value(node: object) -> str | None:
    """The value of a string literal, including concatenated ones; None for bytes, f-strings and anything else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
