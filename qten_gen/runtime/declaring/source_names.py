"""The names that the text of a file binds, for class statements whose annotations name what is imported for checkers only."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple


class FileNames(NamedTuple):
    """The bindings in the text of a file: imports anywhere in it with their targets, and other names at its top level."""

    imports: Mapping[str, str]
    defined: frozenset[str]
    bases: Mapping[str, tuple[str, ...]]
    """The bases of the classes at the top level as written, without what is in brackets."""


@lru_cache(maxsize=64)
def names_in(lines: tuple[str, ...]) -> FileNames:
    """The names that a file binds, from its text; none where it cannot be parsed."""
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError:
        return FileNames({}, frozenset(), {})
    imports: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            home = "." * node.level + (f"{node.module}." if node.module else "")
            imports.update({alias.asname or alias.name: home + alias.name for alias in node.names})
        elif isinstance(node, ast.Import):
            # Without `as`, an annotation has the qualified name already: `import shop.base`, `shop.base.Batch`.
            imports.update({alias.asname: alias.name for alias in node.names if alias.asname})
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    bases = {node.name: tuple(ast.unparse(base).partition("[")[0] for base in node.bases) for node in classes}
    return FileNames(imports, frozenset(_defined(tree.body)), bases)


def _defined(body: list[ast.stmt]) -> Iterator[str]:
    """The names that classes and assignments bind, those in top-level if and try statements included."""
    for node in body:
        match node:
            case ast.ClassDef(name=name):
                yield name
            case ast.Assign(targets=targets):
                yield from (target.id for target in targets if isinstance(target, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.If() | ast.Try():
                yield from _defined([*node.body, *node.orelse])
