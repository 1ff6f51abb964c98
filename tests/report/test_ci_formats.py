"""The format `gitlab` against what GitLab requires."""

import json
from dataclasses import replace
from typing import Any

import jsonschema

from qten_gen.model.diagnostics import Diagnostic, Kind, Span
from qten_gen.report import report
from qten_gen.report.stale import StaleFile

ERROR = Diagnostic(
    Kind("QG302", "unknown-dimension"), "no <dmi>", help="did you mean dim?", path="src/net.py", span=Span(2, 37, 3, 40)
)
WARNING = Diagnostic(
    Kind("QG210", "implicit-tensor-conversion", "warning"), "a float", path="a b.py", span=Span(4, 5, 4, 9)
)
STALE = StaleFile("src/net_qten.py", "src/net.py", "stale", "field mask of Batch changed")
ORPHAN = StaleFile("old_qten.py", "old.py", "orphan", "its source is gone")

# https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
CODE_QUALITY = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "additionalProperties": False,
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "pattern": r"^(?!\./)"},
                    "lines": {
                        "type": "object",
                        "required": ["begin"],
                        "properties": {"begin": {"type": "integer", "minimum": 1}},
                    },
                },
            },
        },
    },
}


def code_quality(*items: Diagnostic, files: tuple[StaleFile, ...] = ()) -> list[dict[str, Any]]:
    issues: list[dict[str, Any]] = json.loads(report("gitlab", items, files))
    jsonschema.validate(issues, CODE_QUALITY)
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)
    return issues


def test_a_code_quality_report_has_an_issue_for_each_finding() -> None:
    issues = code_quality(ERROR, WARNING, files=(STALE, ORPHAN))

    assert [(issue["check_name"], issue["severity"]) for issue in issues] == [
        ("QG302", "major"),
        ("QG210", "minor"),
        ("stale-file", "major"),
        ("stale-file", "major"),
    ]
    assert issues[0]["description"] == "no <dmi> (did you mean dim?)"
    assert [issue["location"]["path"] for issue in issues] == ["src/net.py", "a b.py", "src/net.py", "old_qten.py"]
    assert issues[0]["location"]["lines"] == {"begin": 2, "end": 3}


def test_a_code_quality_report_without_findings_is_an_empty_list() -> None:
    assert code_quality() == []


def test_the_fingerprint_of_an_issue_does_not_change_with_its_line() -> None:
    moved = replace(ERROR, span=Span(12, 37, 13, 40))

    assert code_quality(moved)[0]["fingerprint"] == code_quality(ERROR)[0]["fingerprint"]


def test_equal_issues_of_a_file_have_fingerprints_of_their_own() -> None:
    assert len(code_quality(ERROR, replace(ERROR, span=Span(12, 37, 12, 40)))) == 2
