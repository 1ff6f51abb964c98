"""Puts a hostile text in the place of any expression of a project: a name, a size, a default, a base, a part of a type."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

from tests.generate.hostile import HOSTILE

from .grammar import Source


def with_hostile_text(sources: Sequence[Source], random: Random) -> tuple[Source, ...]:
    """The project with one expression replaced by a string."""
    chosen = random.choice(sources)
    lines = chosen.text.encode().splitlines(keepends=True)
    expressions = [*_expressions(ast.parse(chosen.text), len(lines))]
    if not expressions:
        return tuple(sources)
    start, begin, last, end = random.choice(expressions)
    before, after = lines[start - 1][:begin], lines[last - 1][end:]
    text = b"".join([*lines[: start - 1], before, repr(random.choice(HOSTILE)).encode(), after, *lines[last:]])
    return tuple(replace(source, text=text.decode()) if source is chosen else source for source in sources)


def _expressions(tree: ast.Module, lines: int) -> Iterator[tuple[int, int, int, int]]:
    """Where the expressions of classes and decorators stand, without those that Python 3.11 has no right place for."""
    for statement in tree.body:
        for node in ast.walk(statement) if isinstance(statement, ast.ClassDef | ast.FunctionDef) else ():
            if isinstance(node, ast.expr) and not isinstance(node, ast.JoinedStr | ast.FormattedValue):
                last, end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
                if last <= lines:
                    yield node.lineno, node.col_offset, last, end
