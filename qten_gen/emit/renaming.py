"""Names in a type as text: each is written anew, and strings are left alone unless they are types themselves."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from ..model.dimensions import annotation_text

_WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")

Edit = tuple[int, int, str]
"""Where a text changes, in bytes, and what stands there then."""


def renamed(
    text: str,
    written: Callable[[str], str],
    keeps_strings: Callable[[str], bool],
    whole: Callable[[str], str | None] = lambda name: None,
) -> str:
    """A type with its names as `written` has them: plain names, and the first parts of dotted ones.

    A name for which `whole` has a text is replaced with all its parts. A string is a type too and loses its quotes, except
    below a name for which `keeps_strings` is true: `Literal["Point"]`.

    >>> renamed('dict[str, "Point"] | Literal["Point"]', {"Point": "_decl.Point"}.get, "Literal".__eq__)
    'dict[str, _decl.Point] | Literal["Point"]'
    """
    tree = _expression(text)
    if tree is None:  # type parameters, whose brackets stand alone
        return _WORD.sub(lambda word: written(word[0]) or word[0], text)
    data = text.encode()  # the parser counts bytes
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def span(node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset

    def edits(node: ast.AST) -> Iterator[Edit]:
        match node:
            case ast.Name() | ast.Attribute() if (new := whole(ast.unparse(node))) is not None:
                yield (*span(node), new)
            case ast.Name(id=plain):
                yield (*span(node), written(plain) or plain)
            case ast.Constant(value=str(quoted)) if (inner := annotation_text(quoted)) is not None:
                yield (*span(node), renamed(inner, written, keeps_strings, whole))
            case ast.Subscript(value=outer, slice=inside) if keeps_strings(ast.unparse(outer)):
                yield from edits(outer)
                for argument in inside.elts if isinstance(inside, ast.Tuple) else [inside]:
                    if not isinstance(argument, ast.Constant):
                        yield from edits(argument)
            case _:
                for child in ast.iter_child_nodes(node):
                    yield from edits(child)

    # From the end, so that the places before a change stay right.
    for start, end, new in sorted(edits(tree), reverse=True):
        data = data[:start] + new.encode() + data[end:]
    return data.decode()


@lru_cache(1024)
def _expression(text: str) -> ast.expr | None:
    """The tree of an expression, which nobody changes; None for a text that is none. Most types stand in many places."""
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return None
