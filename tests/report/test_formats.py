"""Diagnostics as text, in each format."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from qten_gen.model.diagnostics import DeclarationError, Diagnostic, Finding, Kind, ordered
from qten_gen.report import report

SOURCE = b'class Net(Module):\n    weight: nn.Parameter = param("3*dmi")\n'

ERROR = Diagnostic(
    "QG302", "unknown-dimension", "error", "net.py", "there is no config field dmi",
    "did you mean dim?", ("the config fields are dim",), line=2, column=37, end_line=2, end_column=40,
)  # fmt: skip


def full(item: Diagnostic, source: bytes, color: bool = False) -> str:
    return report("full", [item], color=color, sources={item.path: source})


def at(line: int, column: int, end_column: int, end_line: int = 0) -> Diagnostic:
    """A diagnostic without help or notes."""
    return Diagnostic(
        "QG000",
        "test",
        "warning",
        "a.py",
        "odd",
        line=line,
        column=column,
        end_line=end_line or line,
        end_column=end_column,
    )


def carets(item: Diagnostic, source: bytes) -> list[str]:
    """The source line and the line of carets below it, without the margin."""
    rows = full(item, source).splitlines()[2:4]
    return [row.partition("|")[2].removeprefix(" ") for row in rows]


def test_full_shows_the_line_the_place_help_and_notes() -> None:
    assert full(ERROR, SOURCE) == (
        "net.py:2:37: error QG302 [unknown-dimension]: there is no config field dmi\n"
        "  |\n"
        '2 |     weight: nn.Parameter = param("3*dmi")\n'
        "  |                                     ^^^\n"
        "help: did you mean dim?\n"
        "note: the config fields are dim\n"
    )


def test_full_reads_the_lines_from_the_disk_if_nobody_gives_them(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes("# -*- coding: latin-1 -*-\r\nx = 'ü'\r\n".encode("latin-1"))

    text = report("full", [replace(at(2, 1, 2), path=str(path))])

    assert text.splitlines()[2:] == ["2 | x = 'ü'", "  | ^"]


def test_full_separates_diagnostics_by_an_empty_line() -> None:
    text = report("full", [at(1, 1, 2), at(2, 1, 2)], sources={"a.py": b"x\ny\n"})

    assert text.split("\n\n") == [full(at(1, 1, 2), b"x\n")[:-1], full(at(2, 1, 2), b"x\ny\n")]


def test_carets_keep_their_place_after_tabs() -> None:
    assert carets(at(1, 3, 5), b"\t\txy\n") == ["\t\txy", "\t\t^^"]


def test_carets_keep_their_place_after_wide_and_combining_characters() -> None:
    assert carets(at(1, 6, 7), "'名e\u0301'x\n".encode()) == ["'名e\u0301'x", "     ^"]


def test_a_place_over_several_lines_is_marked_to_the_end_of_the_first() -> None:
    assert carets(at(1, 5, 2, end_line=3), b"x = (1,\n2,\n)\n") == ["x = (1,", "    ^^^"]


def test_a_place_behind_the_end_of_the_line_has_one_caret() -> None:
    assert carets(at(1, 8, 9), b"class A\n") == ["class A", "       ^"]


def test_control_characters_of_a_source_are_not_printed() -> None:
    assert "\x1b" not in full(at(1, 1, 2), b"x = '\x1b[2J'\n")


def test_a_file_that_cannot_be_read_has_no_frame() -> None:
    assert report("full", [at(1, 1, 2)], sources={}) == "a.py:1:1: warning QG000 [test]: odd\n"


def test_a_diagnostic_without_a_line_names_the_file_only() -> None:
    item = Diagnostic("QG003", "foreign-output", "error", "a_qten.py", "not ours")

    assert report("concise", [item]) == "a_qten.py: error QG003 [foreign-output]: not ours\n"


def test_colour_changes_nothing_but_colour() -> None:
    import re

    coloured = full(ERROR, SOURCE, color=True)

    assert coloured != full(ERROR, SOURCE)
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == full(ERROR, SOURCE)


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
    }


def test_json_without_diagnostics_is_still_a_document() -> None:
    assert json.loads(report("json", [])) == {"version": 1, "diagnostics": []}


def test_github_commands_escape_what_would_end_them() -> None:
    item = Diagnostic("QG000", "test", "warning", "a,b.py", "50%\nof it", line=1, column=2, end_line=1, end_column=3)

    assert report("github", [item]) == (
        "::warning title=QG000 [test],file=a%2Cb.py,line=1,endLine=1,col=2,endColumn=3::50%25%0Aof it\n"
    )


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(ValueError, match="there is no output format 'xml'"):
        report("xml", [])


def test_diagnostics_are_ordered_by_file_and_place_and_shown_once() -> None:
    later, earlier = at(2, 1, 2), at(1, 5, 6)

    assert ordered([later, earlier, later]) == (earlier, later)


def test_a_declaration_error_lists_all_findings() -> None:
    findings = [
        Finding("first", help="do this", notes=("because",)).of(Kind("QG001", "one")),
        Finding("second").of(Kind("QG002", "two")),
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
