"""The imports at the top level of a file, and which of them can be taken out."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from .opened import OpenFile
from .source_text import Text

Import = ast.Import | ast.ImportFrom


def imports(tree: ast.Module) -> Iterator[Import]:
    """The imports at the top level itself: one inside a block may have a reason that the text does not show."""
    return (node for node in tree.body if isinstance(node, Import))


def bound(alias: ast.alias, node: Import) -> str:
    """The name that an import binds."""
    return alias.asname or (alias.name if isinstance(node, ast.ImportFrom) else alias.name.partition(".")[0])


def replaceable(file: OpenFile, name: str) -> bool:
    """Whether the import that binds a name at the top level can be taken out: no comment is lost, and no other file needs it."""
    if file.is_exported(name):
        return False
    found = [(node, alias) for node in imports(file.tree) for alias in node.names if bound(alias, node) == name]
    return len(found) == 1 and is_removable(found[0][0], [found[0][1]], file.text)


def is_removable(node: Import, gone: Collection[ast.alias], text: Text) -> bool:
    """Whether no comment and no other code are lost with names of an import."""
    if len(gone) < len(node.names):
        return "#" not in text.content[text.span(node.names[0])[0] : text.span(node.names[-1])[1]]
    lines = "\n".join(text.lines[node.lineno - 1 : node.end_lineno])
    return "#" not in lines and lines.strip() == text.of(node)
