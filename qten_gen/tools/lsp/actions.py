"""The actions of an editor at a finding: to mend it as `--fix` does, or to suppress it with a comment."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import takewhile

from ...generate.suppression import can_be_suppressed
from ...model.diagnostics import Diagnostic
from ...read.encoding import decode
from ...read.suppressions import suppressions
from .capabilities import FIX_ALL, GENERATE
from .connection import Json
from .messages import Lines, Range, Shown, message


def actions(
    found: Sequence[Diagnostic], data: bytes, uri: str, version: int | None, lines: Lines, range: Range
) -> list[Json]:
    """The actions in a range of a file.

    Args:
        found: The findings of the file.
        data: The text that they were found in.
        uri: The URI of the file.
        version: That of the text, if the file is open.
        lines: The lines of the text.
        range: Where the user looks.
    """
    text = decode(data, "")
    if not isinstance(text, str):
        return []
    offered: list[Json] = []
    for item in found:
        shown = message(item, lines)
        if not _touch(shown["range"], range):
            continue
        mended = _mended([item], data)
        if mended is not None:
            edit = _edit(text, mended, uri, version, lines)
            title = f"{item.code}: {_title(item)}"
            offered.append(_quick_fix(title, shown, edit, is_preferred=item.fix is not None and item.fix.is_sure))
        silenced = with_suppression(text, item)
        if silenced is not None:
            edit = _edit(text, silenced, uri, version, lines)
            offered.append(_quick_fix(f"Ignore {item.code} here", shown, edit, is_preferred=False))
    everything = _mended([item for item in found if item.fix is not None and item.fix.is_sure], data)
    if everything is not None:
        edit = _edit(text, everything, uri, version, lines)
        offered.append({"title": "qten-gen: mend what can be mended", "kind": FIX_ALL, "edit": edit})
    title = "qten-gen: write the generated files"
    command = {"title": title, "command": GENERATE, "arguments": [uri]}
    return [*offered, {"title": title, "kind": "source.qten-gen", "command": command}]


def _title(item: Diagnostic) -> str:
    assert item.fix is not None
    return f"insert {item.fix.text.strip()!r}" if item.fix.is_behind else f"change to {item.fix.text!r}"


def _quick_fix(title: str, shown: Shown, edit: Json, is_preferred: bool) -> Json:
    fix: Json = {"title": title, "kind": "quickfix", "diagnostics": [shown], "edit": edit}
    return {**fix, "isPreferred": True} if is_preferred else fix


def _touch(one: Range, other: Range) -> bool:
    return one["start"]["line"] <= other["end"]["line"] and other["start"]["line"] <= one["end"]["line"]


def _mended(found: Iterable[Diagnostic], data: bytes) -> str | None:
    """The text with all findings mended that have a fix; None if that changes nothing."""
    with_fix = tuple(item for item in found if item.fix is not None)
    return _fixed(with_fix, data) if with_fix else None


@lru_cache(maxsize=32)
def _fixed(found: tuple[Diagnostic, ...], data: bytes) -> str | None:
    """The text of one file mended. Editors ask whenever the cursor has moved, so the answers are kept."""
    from ...generate.fixing import fixed

    (changed,) = fixed(found, {item.path: data for item in found}).values()
    text = decode(changed, "") if isinstance(changed, bytes) and changed != data else None
    return text if isinstance(text, str) else None


def _edit(old: str, new: str, uri: str, version: int | None, lines: Lines) -> Json:
    """The edit of the one place in which two texts differ."""
    old, new = (re.sub(r"\r\n|\r", "\n", text) for text in (old, new))
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    range = lines.between(lines.place_of(start), lines.place_of(len(old) - end))
    edits = [{"range": range, "newText": new[start : len(new) - end]}]
    return {"documentChanges": [{"textDocument": {"uri": uri, "version": version}, "edits": edits}]}


def _common(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def with_suppression(text: str, item: Diagnostic) -> str | None:
    """The text with a comment that suppresses a finding; None if there can be none.

    The comment goes to the end of the first line, or of the last one if the first cannot end with a comment.
    """
    if not can_be_suppressed(item.code) or not item.span.line:
        return None
    for number in dict.fromkeys((item.span.line, item.span.end_line)):
        for new in _commented(text, number, item.code):
            if _suppresses(new, number, item.code):
                return new
    return None


def _commented(text: str, number: int, code: str) -> Iterator[str]:
    """The text with the code in the comment of a line, or with a comment behind the line."""
    pieces = re.split(r"(\r\n|\r|\n)", text)
    line = pieces[2 * number - 2]
    known = re.search(r"#\s*qten-gen:\s*ignore\[([^\]]*)", line)
    if known is not None:
        new = f"{line[: known.end()]}{', ' if known[1].strip() else ''}{code}{line[known.end() :]}"
    else:
        new = f"{line.rstrip()}  # qten-gen: ignore[{code}]"
    yield "".join([*pieces[: 2 * number - 2], new, *pieces[2 * number - 1 :]])


def _suppresses(text: str, number: int, code: str) -> bool:
    """Whether a text is still Python, and has such a comment in a line."""
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return any(item.line == number and code in dict(item.codes) for item in suppressions(text))
