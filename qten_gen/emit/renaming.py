"""Names in a type as text: each is written anew, and strings are left alone unless they are types themselves."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

_WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")

Edit = tuple[int, int, str]
"""Where a text changes, in bytes, and what stands there then."""


def renamed(text: str, written: Callable[[str], str], keeps_strings: Callable[[str], bool]) -> str:
    """A type with its names as `written` has them.

    A string in it is a type too and loses its quotes, except below a name for which `keeps_strings` is true: `Literal["Point"]`.

    >>> renamed('dict[str, "Point"] | Literal["Point"]', {"Point": "_decl.Point"}.get, "Literal".__eq__)
    'dict[str, _decl.Point] | Literal["Point"]'
    """
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:  # type parameters, whose brackets stand alone
        return _WORD.sub(lambda word: written(word[0]) or word[0], text)
    data = text.encode()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for start, end, new in sorted(_edits(tree.body, starts, written, keeps_strings), reverse=True):
        data = data[:start] + new.encode() + data[end:]
    return data.decode()


def _edits(
    node: ast.AST, starts: list[int], written: Callable[[str], str], keeps_strings: Callable[[str], bool]
) -> Iterator[Edit]:
    """The changes to a part of the text, whose lines start at these bytes."""
    match node:
        case ast.Name(id=name):
            yield _edit(node, starts, written(name) or name)
        case ast.Constant(value=str(text)):
            inner = text.strip()
            if _is_expression(inner):
                yield _edit(node, starts, renamed(inner, written, keeps_strings))
        case ast.Subscript(value=outer, slice=inside) if keeps_strings(ast.unparse(outer)):
            yield from _edits(outer, starts, written, keeps_strings)
            for part in inside.elts if isinstance(inside, ast.Tuple) else [inside]:
                if not isinstance(part, ast.Constant):
                    yield from _edits(part, starts, written, keeps_strings)
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _edits(child, starts, written, keeps_strings)


def _edit(node: ast.expr, starts: list[int], new: str) -> Edit:
    assert node.end_lineno is not None and node.end_col_offset is not None
    start, end = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
    return start, end, new


def _is_expression(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except (SyntaxError, ValueError):
        return False
    return True
