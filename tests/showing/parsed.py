"""What a reader sees of a piece of HTML: whether it is well formed, its texts, and the lines of its tables."""

from __future__ import annotations

from html.parser import HTMLParser


class Parsed(HTMLParser):
    """The elements of a fragment, which have to be closed in order."""

    def __init__(self, html: str | None) -> None:
        super().__init__()
        assert html is not None
        self.tags: list[str] = []
        self.rows: list[tuple[str, ...]] = []
        self.summaries: list[str] = []
        self._open: list[str] = []
        self._cells: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == []

    @property
    def fields(self) -> dict[str, tuple[str, ...]]:
        """The cells of each line that is not folded, by its name without the note beside it."""
        return {row[0].split(" ")[0]: row[1:] for row in self.rows if len(row) > 1}

    @property
    def text(self) -> str:
        """All summaries and cells, one a line."""
        return "\n".join([*self.summaries, *(cell for row in self.rows for cell in row)])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._open.append(tag)
        if tag == "tr":
            self._cells = []
        if tag in ("td", "th"):
            self._cells.append("")
        if tag == "summary":
            self.summaries.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag
        if tag == "tr":
            self.rows.append(tuple(self._cells))

    def handle_data(self, data: str) -> None:
        if "style" in self._open:
            return
        if "summary" in self._open:
            self.summaries[-1] += data
        elif self._open and {"td", "th"} & set(self._open):
            self._cells[-1] += data
