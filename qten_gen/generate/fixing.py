"""Mends sources where a rule knows the only way to do so. Nothing else in their text changes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping

from ..common.text_edits import Edit, disjoint, edited
from ..model.diagnostics import Diagnostic, Fix
from ..read.encoding import decode, encoding_of
from ..read.syntax import parse


def fixed(diagnostics: Iterable[Diagnostic], sources: Mapping[str, bytes]) -> dict[str, bytes]:
    """The new bytes of the sources that have fixes, by path. Of fixes that overlap, only the first is made."""
    fixes: dict[str, list[Fix]] = {}
    for item in diagnostics:
        if item.fix is not None and item.fix.span.line:
            fixes.setdefault(item.path, []).append(item.fix)
    found = {path: _fixed(sources[path], given) for path, given in fixes.items()}
    return {path: data for path, data in found.items() if data is not None}


def _fixed(data: bytes, fixes: Iterable[Fix]) -> bytes | None:
    """The bytes of a source with fixes; None if it would not be Python any more, or cannot be encoded."""
    encoding, text = encoding_of(data), decode(data, "")
    if not isinstance(text, str) or not isinstance(encoding, str):
        return None
    starts = [0, *(match.end() for match in re.finditer(r"\r\n|\r|\n", text))]
    edits = (_edit(fix, starts) for fix in fixes)
    new = edited(text, disjoint(edit for edit in edits if not _is_behind_string(edit, text)))
    try:
        return new.encode(encoding) if isinstance(parse(new, ""), ast.Module) else None
    except UnicodeEncodeError:
        return None


def _edit(fix: Fix, starts: list[int]) -> Edit:
    """A fix as an edit of the text of its file."""
    span = fix.span
    last = starts[span.end_line - 1] + span.end_column - 1
    return Edit(last if fix.is_behind else starts[span.line - 1] + span.column - 1, last, fix.text)


def _is_behind_string(edit: Edit, text: str) -> bool:
    """Whether text is added right behind a string literal, where it would not become part of the annotation in it."""
    return edit.start == edit.end and text[edit.start - 1 : edit.start] in ("'", '"')
