"""Reads the comments that suppress diagnostics: `# qten-gen: ignore[QG210, unmanaged-tensor] reason`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..common.records import record

if TYPE_CHECKING:
    import tokenize

MARK = "qten-gen:"
"""The text in every file with such a comment."""

_COMMENT = r"#\s*qten-gen:\s*(?P<word>[\w-]*)\s*(?:\[(?P<codes>[^\]]*)\])?"
_WORD = r"[^\s,]+"


@record(frozen=True, slots=True)
class Suppression:
    """A comment. Lines and columns count from 1; `end` is exclusive."""

    line: int
    column: int
    end: int
    word: str
    """The word of the comment: `ignore`."""
    codes: tuple[tuple[str, int], ...]
    """The codes or names in brackets as written, each with its column."""
    first: int
    """The first line of the statement that the comment is in, or of its head; 0 for a comment on a line of its own."""
    last: int
    """The last one."""

    def covers(self, line: int, end_line: int) -> bool:
        """True if the comment suppresses what is in these lines: its own, or a statement that begins or ends in its line."""
        if line <= self.line <= end_line and (self.first <= line <= self.last):
            return True
        return self.line in (self.first, self.last) and self.first <= line <= self.last


def suppressions(text: str) -> tuple[Suppression, ...]:
    """The comments of a file in their order. Strings that look like one are left out."""
    return tuple(_suppressions(text)) if MARK in text else ()


def _suppressions(text: str) -> Iterator[Suppression]:
    """A statement, or the head of a block, ends with a NEWLINE token. Comments follow it in the stream of tokens."""
    import io
    import tokenize

    first, waiting = 0, list[tokenize.TokenInfo]()
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                if first:
                    waiting.append(token)
                else:
                    yield from _of(token, 0, 0)
            elif token.type == tokenize.NEWLINE:
                for comment in waiting:
                    yield from _of(comment, first, token.start[0])
                first, waiting = 0, []
            elif token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
                first = first or token.start[0]
    except (tokenize.TokenError, SyntaxError):
        return


def _of(comment: tokenize.TokenInfo, first: int, last: int) -> Iterator[Suppression]:
    line, offset = comment.start
    for match in re.finditer(_COMMENT, comment.string):
        words = re.finditer(_WORD, match["codes"] or "")
        codes = tuple((word.group(), offset + match.start("codes") + word.start() + 1) for word in words)
        column = offset + match.start() + 1
        end = column + len(match.group().rstrip())
        yield Suppression(line, column, end, match["word"], codes, first, last)


def suppressed(text: str, tree: ast.Module, lines: Sequence[str]) -> tuple[str, ...]:
    """The texts of the top-level statements with such a comment. Nothing else in its file decides if a comment is of use."""
    found: dict[tuple[int, int], None] = {}
    for item in suppressions(text):
        around = (each for each in map(_extent, tree.body) if each[0] <= item.line <= each[1])
        found[next(around, (item.line, item.line))] = None
    return tuple("\n".join(lines[first - 1 : last]) for first, last in found)


def _extent(node: ast.stmt) -> tuple[int, int]:
    """The first and last line of a statement, with its decorators."""
    above = node.decorator_list if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) else []
    return min([node.lineno, *(decorator.lineno for decorator in above)]), node.end_lineno or node.lineno
