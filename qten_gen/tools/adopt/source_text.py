"""The text of a file: from positions in its syntax tree to characters."""

from __future__ import annotations

import ast
import re

_LINE_END = re.compile(r"\r\n|\r|\n")
"""The ends of lines for Python's parser. A form feed does not, though `str.splitlines` splits there."""


class Text:
    """A text and the starts of its lines. Positions of `ast` count bytes of UTF-8 in a line; these count characters."""

    def __init__(self, content: str) -> None:
        """Keep the text with line feeds only, and the first of its line ends."""
        found = _LINE_END.search(content)
        self.newline = found.group() if found else "\n"
        self.content = _LINE_END.sub("\n", content) if "\r" in content else content
        self._starts = [0]
        for line in self.lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def offset(self, line: int, column: int) -> int:
        """The character of a line, from 1, and a column in bytes, from 0."""
        start = self._starts[line - 1]
        whole = self.content[start : self._starts[line]]
        return start + (column if whole.isascii() else len(whole.encode()[:column].decode()))

    def span(self, node: ast.expr | ast.stmt | ast.alias | ast.arg | ast.keyword) -> tuple[int, int]:
        """Where a node starts and ends. Decorators are not part of a class or function."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)

    def of(self, node: ast.expr | ast.stmt | ast.alias | ast.arg | ast.keyword) -> str:
        """The text of a node, as written."""
        start, end = self.span(node)
        return self.content[start:end]

    def line_start(self, line: int) -> int:
        """The first character of a line, from 1."""
        return self._starts[line - 1]

    def indentation(self, line: int) -> str:
        """The blanks that a line begins with."""
        whole = self.content[self._starts[line - 1] : self._starts[line]]
        return whole[: len(whole) - len(whole.lstrip(" \t\f"))]

    @property
    def lines(self) -> list[str]:
        """The lines, without their ends."""
        return self.content.split("\n")
