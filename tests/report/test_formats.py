"""Diagnostics as text, in each format."""

import json
from dataclasses import replace

import pytest

from qten_gen.model.diagnostics import DeclarationError, Diagnostic, Kind, Span, ordered
from qten_gen.report import report

ERROR = Diagnostic(
    Kind("QG302", "unknown-dimension"),
    "there is no config field dmi",
    help="did you mean dim?",
    notes=("the config fields are dim",),
    path="net.py",
    span=Span(2, 37, 2, 40, '    weight: nn.Parameter = param("3*dmi")'),
)

ODD = Kind("QG000", "test", "warning")


def full(item: Diagnostic, color: bool = False) -> str:
    return report("full", [item], color=color)


def at(column: int, end_column: int, text: str | None, line: int = 1, end_line: int = 0) -> Diagnostic:
    """A diagnostic without help or notes, in a line with that text."""
    return Diagnostic(ODD, "odd", path="a.py", span=Span(line, column, end_line or line, end_column, text))


def carets(item: Diagnostic) -> list[str]:
    """The source line and the line of carets below it, without the margin."""
    rows = full(item).splitlines()[2:4]
    return [row.partition("|")[2].removeprefix(" ") for row in rows]


def test_full_shows_the_line_the_place_help_and_notes() -> None:
    assert full(ERROR) == (
        "net.py:2:37: error QG302 [unknown-dimension]: there is no config field dmi\n"
        "  |\n"
        '2 |     weight: nn.Parameter = param("3*dmi")\n'
        "  |                                     ^^^\n"
        "help: did you mean dim?\n"
        "note: the config fields are dim\n"
    )


def test_full_separates_diagnostics_by_an_empty_line() -> None:
    first, second = at(1, 2, "x"), at(1, 2, "y", line=2)

    assert report("full", [first, second]).split("\n\n") == [full(first)[:-1], full(second)]


@pytest.mark.parametrize("form", ["full", "concise"])
def test_a_file_name_cannot_write_to_the_terminal(form: str) -> None:
    item = replace(ERROR, path="a\n\x1b[31mb.py", message="\x1b]0;title\x07")
    shown = report(form, [item]).splitlines()[0]
    assert shown == r"a\n\x1b[31mb.py:2:37: error QG302 [unknown-dimension]: \x1b]0;title\x07"


@pytest.mark.parametrize(
    ("item", "shown"),
    [
        (at(3, 5, "\t\txy"), ["\t\txy", "\t\t^^"]),
        (at(6, 7, "'名e\u0301'x"), ["'名e\u0301'x", "     ^"]),
        (at(5, 2, "x = (1,", end_line=3), ["x = (1,", "    ^^^"]),
        (at(8, 9, "class A"), ["class A", "       ^"]),
    ],
    ids=["after tabs", "after wide and combining characters", "over several lines", "behind the end of the line"],
)
def test_carets_stand_below_the_place(item: Diagnostic, shown: list[str]) -> None:
    assert carets(item) == shown


def test_control_characters_of_a_source_are_not_printed() -> None:
    assert "\x1b" not in full(at(1, 2, "x = '\x1b[2J'"))


def test_a_line_that_is_not_at_hand_has_no_frame() -> None:
    assert full(at(1, 2, None)) == "a.py:1:1: warning QG000 [test]: odd\n"


def test_a_diagnostic_without_a_line_names_the_file_only() -> None:
    item = Diagnostic(Kind("QG003", "foreign-output"), "not ours", path="a_qten.py")

    assert report("concise", [item]) == "a_qten.py: error QG003 [foreign-output]: not ours\n"
    assert report("concise", [replace(item, span=Span(3))]) == "a_qten.py:3: error QG003 [foreign-output]: not ours\n"


def test_colour_changes_nothing_but_colour() -> None:
    import re

    coloured = full(ERROR, color=True)

    assert coloured != full(ERROR)
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == full(ERROR)


def test_concise_is_one_line_each() -> None:
    assert report("concise", [ERROR, ERROR]) == 2 * (
        "net.py:2:37: error QG302 [unknown-dimension]: there is no config field dmi\n"
    )


def test_json_is_one_document_with_a_version() -> None:
    assert json.loads(report("json", [ERROR])) == {
        "version": 1,
        "diagnostics": [
            {
                "code": "QG302",
                "name": "unknown-dimension",
                "severity": "error",
                "path": "net.py",
                "line": 2,
                "column": 37,
                "end_line": 2,
                "end_column": 40,
                "message": "there is no config field dmi",
                "help": "did you mean dim?",
                "notes": ["the config fields are dim"],
            }
        ],
        "files": [],
    }


def test_json_without_diagnostics_is_still_a_document() -> None:
    assert json.loads(report("json", [])) == {"version": 1, "diagnostics": [], "files": []}


def test_github_commands_escape_what_would_end_them() -> None:
    item = Diagnostic(ODD, "50%\nof it", path="a,b.py", span=Span(1, 2, 1, 3))

    assert report("github", [item]) == (
        "::warning title=QG000 [test],file=a%2Cb.py,line=1,endLine=1,col=2,endColumn=3::50%25%0Aof it\n"
    )


def test_github_commands_show_other_control_characters_as_escapes() -> None:
    item = Diagnostic(ODD, "\x1b[2J", path="\x1b[31ma.py", span=Span(1, 2, 1, 3))

    assert report("github", [item]) == (
        r"::warning title=QG000 [test],file=\x1b[31ma.py,line=1,endLine=1,col=2,endColumn=3::\x1b[2J" + "\n"
    )


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown output format 'xml'"):
        report("xml", [])


def test_diagnostics_are_ordered_by_file_and_place_and_shown_once() -> None:
    later, earlier = at(1, 2, None, line=2), at(5, 6, None)

    assert ordered([later, earlier, later]) == (earlier, later)


def test_a_declaration_error_lists_all_findings() -> None:
    findings = [
        Diagnostic(Kind("QG001", "one"), "first", help="do this", notes=("because",)),
        Diagnostic(Kind("QG002", "two"), "second"),
    ]

    error = DeclarationError.of("Batch", findings)

    assert isinstance(error, TypeError)
    assert error.findings == tuple(findings)
    assert str(error) == (
        "Batch cannot be generated\n"
        "  error QG001 [one]: first\n"
        "    help: do this\n"
        "    note: because\n"
        "  error QG002 [two]: second"
    )
