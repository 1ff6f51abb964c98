"""The format `sarif`: SARIF 2.1.0 with what GitHub's code scanning requires."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from urllib.parse import quote

from ..model.diagnostics import Diagnostic
from .stale import ADVICE, CHECK, StaleFile

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(
    diagnostics: Sequence[Diagnostic],
    files: Sequence[StaleFile] = (),
    *,
    version: str = "",
    page: Callable[[str], str] = str,
) -> str:
    """One run with a result for each diagnostic and each file that is out of date.

    Args:
        diagnostics: The diagnostics.
        files: Generated files that are out of date.
        version: That of qten-gen.
        page: The documentation of a diagnostic, by its code.
    """
    kinds = {item.code: item.kind for item in diagnostics}
    rules = [_rule(kind.code, kind.name, kind.severity, page(kind.code)) for kind in sorted(kinds.values())]
    if files:
        rules.append(_rule(CHECK, CHECK, "error", ADVICE))
    places = {str(rule["id"]): index for index, rule in enumerate(rules)}
    driver = {
        "name": "qten-gen",
        "informationUri": "https://pypi.org/project/qten-gen/",
        **({"version": version, "semanticVersion": version} if version else {}),
        "rules": rules,
    }
    results = [*(_result(item, places) for item in diagnostics), *(_stale(item, places) for item in files)]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False) + "\n"


def _rule(code: str, name: str, severity: str, page: str) -> dict[str, object]:
    """The description of a rule. GitHub requires all of its texts."""
    first = page.strip().partition("\n")[0] or name
    return {
        "id": code,
        "name": name,
        "shortDescription": {"text": first},
        "fullDescription": {"text": first},
        "help": {"text": page.strip() or name},
        "defaultConfiguration": {"level": severity},
        "properties": {"tags": ["qten-gen"], "problem.severity": severity},
    }


def _result(item: Diagnostic, places: dict[str, int]) -> dict[str, object]:
    """One diagnostic, with help and notes below its message."""
    texts = [item.message, *([f"help: {item.help}"] if item.help else []), *(f"note: {note}" for note in item.notes)]
    span = item.span
    region: dict[str, object] = {"startLine": span.line or 1}
    if span.column:
        region |= {"startColumn": span.column, "endLine": span.end_line, "endColumn": span.end_column}
    return {
        "ruleId": item.code,
        "ruleIndex": places[item.code],
        "level": item.kind.severity,
        "message": {"text": "\n".join(texts)},
        "locations": [_location(item.path, region)],
    }


def _stale(file: StaleFile, places: dict[str, int]) -> dict[str, object]:
    """A file that is out of date, at the first line of its source."""
    return {
        "ruleId": CHECK,
        "ruleIndex": places[CHECK],
        "level": "error",
        "message": {"text": f"{file.sentence}. {ADVICE}"},
        "locations": [_location(file.shown_at, {"startLine": 1})],
    }


def _location(path: str, region: dict[str, object]) -> dict[str, object]:
    uri = quote(path.replace("\\", "/"), safe="/.-_~", errors="replace")
    return {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": region}}
