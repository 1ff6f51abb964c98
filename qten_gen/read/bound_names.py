"""Reads the names that import statements and assignment targets bind."""

from __future__ import annotations

import ast
import typing
from collections.abc import Iterator, Sequence

from .. import __all__ as PUBLIC_NAMES
from ..model import ImportedName, language

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
