"""The formats `gitlab` and `junit` against what GitLab and the readers of JUnit's XML require."""

import json
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

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


def suites(*items: Diagnostic, files: tuple[StaleFile, ...] = ()) -> ElementTree.Element:
    """The root of a JUnit report, whose counts are right."""
    root = ElementTree.fromstring(report("junit", items, files))
    for element in (root, *root):
        assert int(element.attrib["tests"]) == len(element.findall(".//testcase"))
        assert int(element.attrib["failures"]) == len(element.findall(".//failure"))
    return root


def test_a_junit_report_has_a_suite_for_each_file_and_a_failure_for_each_error() -> None:
    root = suites(WARNING, ERROR, files=(STALE, ORPHAN))

    assert [suite.attrib["name"] for suite in root] == ["a b.py", "src/net.py", "old_qten.py"]
    failures = [(item.attrib["type"], item.text) for item in root.findall(".//failure")]
    advice = "Run qten-gen and commit the generated files."
    assert failures == [
        ("QG302", "no <dmi>\nhelp: did you mean dim?"),
        ("stale-file", f"src/net_qten.py is stale: field mask of Batch changed. {advice}"),
        ("stale-file", f"old_qten.py is to be removed: its source is gone. {advice}"),
    ]


def test_a_warning_is_a_case_that_passes() -> None:
    (case,) = suites(WARNING).findall(".//testcase")

    assert case.find("failure") is None
    assert case.findtext("system-out") == "warning: a float"
    assert case.attrib["line"] == "4"


def test_a_junit_report_without_findings_has_a_case_that_passes() -> None:
    assert [case.attrib["name"] for case in suites().findall(".//testcase")] == ["no findings"]


@pytest.mark.parametrize("character", ["\x00", "\x1b", "\ufffe", "\udc80"])
def test_a_character_that_xml_cannot_contain_does_not_break_a_junit_report(character: str) -> None:
    root = suites(replace(ERROR, message=f"a{character}b", path=f"x{character}.py"))

    assert root.find(".//failure[@message='a\ufffdb']") is not None
