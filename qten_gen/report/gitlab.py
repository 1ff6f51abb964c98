"""The format `gitlab`: a Code Quality report, which GitLab shows in merge requests."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256

from ..model.diagnostics import Diagnostic
from .stale import ADVICE, CHECK, StaleFile

_SEVERITIES = {"error": "major", "warning": "minor"}


def gitlab(diagnostics: Sequence[Diagnostic], files: Sequence[StaleFile] = ()) -> str:
    """A JSON array with an issue for each diagnostic and each file that is out of date.

    The fingerprint of an issue contains no line, so that GitLab does not call an issue new when lines above it come or go.
    """
    issues = [*map(_issue, diagnostics), *map(_stale, files)]
    return json.dumps([*_with_fingerprints(issues)], indent=2, ensure_ascii=False) + "\n"


def _issue(item: Diagnostic) -> dict[str, object]:
    span = item.span
    lines = {"begin": span.line or 1, "end": span.end_line or span.line or 1}
    told = f"{item.message} ({item.help})" if item.help else item.message
    return _record(item.code, told, _SEVERITIES[item.kind.severity], item.path, lines)


def _stale(file: StaleFile) -> dict[str, object]:
    """The issue of a file that is out of date, at the first line of what GitLab is to show."""
    return _record(CHECK, f"{file.sentence}. {ADVICE}", _SEVERITIES["error"], file.shown_at, {"begin": 1, "end": 1})


def _record(name: str, description: str, severity: str, path: str, lines: dict[str, int]) -> dict[str, object]:
    location = {"path": path.replace("\\", "/"), "lines": lines}
    return {"description": description, "check_name": name, "severity": severity, "location": location}


def _with_fingerprints(issues: Sequence[dict[str, object]]) -> Iterator[dict[str, object]]:
    """The issues with fingerprints. Equal issues of a file are counted, because GitLab drops a second one with the same."""
    seen: Counter[str] = Counter()
    for issue in issues:
        location = issue["location"]
        assert isinstance(location, dict)
        same = f"{issue['check_name']}\0{location['path']}\0{issue['description']}"
        seen[same] += 1
        digest = sha256(f"{same}\0{seen[same]}".encode("utf-8", "surrogateescape")).hexdigest()
        yield {**issue, "fingerprint": digest}
