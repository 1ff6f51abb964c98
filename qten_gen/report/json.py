"""The format `json`: one JSON document, for other programs."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..model.diagnostics import Diagnostic
from .stale import StaleFile

VERSION = 1
"""Version of the document's format. It is raised when a key is removed or changes its meaning, but not for a new key."""


def as_json(diagnostics: Sequence[Diagnostic], files: Sequence[StaleFile] = ()) -> str:
    """`{"version": 1, "diagnostics": [...], "files": [...]}`. Lines and columns count from 1, `end_column` is exclusive."""
    stale = [item._asdict() for item in files]
    document = {"version": VERSION, "diagnostics": [_entry(item) for item in diagnostics], "files": stale}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _entry(item: Diagnostic) -> dict[str, object]:
    """One diagnostic as a JSON object. Lines and columns are 0 if they are not known."""
    return {
        "code": item.code,
        "name": item.kind.name,
        "severity": item.kind.severity,
        "path": item.path,
        "line": item.span.line,
        "column": item.span.column,
        "end_line": item.span.end_line,
        "end_column": item.span.end_column,
        "message": item.message,
        "help": item.help,
        "notes": list(item.notes),
    }
