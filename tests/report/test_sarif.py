"""The format `sarif` against the parts of SARIF 2.1.0 that it uses, as the schema of OASIS states them."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from qten_gen.model.diagnostics import Diagnostic, Kind, Span
from qten_gen.report import report
from qten_gen.report.stale import StaleFile


def closed(properties: dict[str, object], *required: str) -> dict[str, object]:
    """The schema of an object with these properties and no other."""
    return {"type": "object", "properties": properties, "required": [*required], "additionalProperties": False}


def several(items: object, **more: object) -> dict[str, object]:
    return {"type": "array", "items": items, **more}


TEXT = {"type": "string", "minLength": 1}
COUNT = {"type": "integer", "minimum": 1}
LEVEL = {"enum": ["none", "note", "warning", "error"]}
MESSAGE = closed({"text": TEXT}, "text")
REGION = closed({"startLine": COUNT, "startColumn": COUNT, "endLine": COUNT, "endColumn": COUNT}, "startLine")
ARTIFACT = closed({"uri": {"type": "string", "format": "uri-reference", "pattern": r"^[A-Za-z0-9/._~%-]+$"}}, "uri")
PLACE = closed({"artifactLocation": ARTIFACT, "region": REGION}, "artifactLocation", "region")
RULE = closed(
    {
        "id": TEXT,
        "name": TEXT,
        "shortDescription": MESSAGE,
        "fullDescription": MESSAGE,
        "help": MESSAGE,
        "defaultConfiguration": closed({"level": LEVEL}, "level"),
        "properties": closed({"tags": several(TEXT, uniqueItems=True), "problem.severity": LEVEL}),
    },
    "id",
    "shortDescription",
    "fullDescription",
    "help",
)
DRIVER = closed(
    {
        "name": TEXT,
        "version": TEXT,
        "semanticVersion": TEXT,
        "informationUri": {"type": "string", "format": "uri", "pattern": "^https://"},
        "rules": several(RULE, uniqueItems=True),
    },
    "name",
)
RESULT = closed(
    {
        "ruleId": TEXT,
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": LEVEL,
        "message": MESSAGE,
        "locations": several(closed({"physicalLocation": PLACE}), minItems=1, maxItems=1),
    },
    "message",
)
RUN = closed(
    {
        "tool": closed({"driver": DRIVER}, "driver"),
        "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
        "results": several(RESULT),
    },
    "tool",
)
SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    **closed(
        {"$schema": {"type": "string", "format": "uri"}, "version": {"const": "2.1.0"}, "runs": several(RUN)},
        "version",
        "runs",
    ),
}

WARNING = Kind("QG210", "implicit-tensor-conversion", "warning")
FOUND = [
    Diagnostic(
        Kind("QG104", "unknown-flag"), "no flag", help="write frozen", path="a.py", span=Span(5, 24, 5, 29, "x")
    ),
    Diagnostic(WARNING, "odd", notes=("a", "b"), path="a b%/é#.py", span=Span(8, 1, 12, 3)),
    Diagnostic(Kind("QG003", "foreign-output"), "not ours", path="a_qten.py"),
]
STALE = [StaleFile("a_qten.py", "a.py", "stale", "new"), StaleFile("b_qten.py", "b.py", "orphan", "")]


def document(found: list[Diagnostic], files: list[StaleFile]) -> dict[str, Any]:
    text = report("sarif", found, files, version="1.2.3", page=lambda code: f"What {code} says.\n\nMore.")
    parsed: dict[str, Any] = json.loads(text)
    return parsed


@pytest.mark.parametrize("files", [[], STALE])
@pytest.mark.parametrize("found", [[], FOUND[:1], FOUND])
def test_a_document_is_sarif(found: list[Diagnostic], files: list[StaleFile]) -> None:
    made = document(found, files)
    jsonschema.Draft202012Validator(SCHEMA).validate(made)
    (run,) = made["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    assert [rules[item["ruleIndex"]]["id"] for item in run["results"]] == [item["ruleId"] for item in run["results"]]
    assert len(run["results"]) == len(found) + len(files)


def test_the_schema_refuses_what_is_not_sarif() -> None:
    made = document(FOUND, STALE)
    made["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0
    made["runs"][0]["results"][1]["severity"] = "error"
    del made["runs"][0]["tool"]["driver"]["name"]
    found = {item.json_path for item in jsonschema.Draft202012Validator(SCHEMA).iter_errors(made)}
    assert len(found) == 3
