"""Runs that write nothing, and how much a run says."""

import json
import re
from pathlib import Path

import pytest

from tests.command import BATCH, BROKEN, Command


def test_check_lists_what_is_missing_and_writes_nothing(qten_gen: Command) -> None:
    qten_gen.write("src/model.py", BATCH)
    result = qten_gen("--check", "src")
    assert result.status == 1
    assert result.out.splitlines()[:-1] == [
        "missing: src/model_qten.py",
        "missing: src/model_qten.pyi",
        "help: run qten-gen src, and commit what it writes",
    ]
    assert result.summary == "2 files missing"
    assert not qten_gen.exists("src/model_qten.py")


def test_check_tells_stale_from_edited_and_orphaned(qten_gen: Command) -> None:
    for name in ("changed", "edited", "gone"):
        qten_gen.write(f"src/{name}.py", BATCH)
    qten_gen("src")
    qten_gen.write("src/changed.py", BATCH + "    y: Tensor\n")
    qten_gen.write("src/edited_qten.py", qten_gen.read("src/edited_qten.py") + "# mine\n")
    (qten_gen.folder / "src/gone.py").unlink()
    result = qten_gen("--check", "src")
    assert result.status == 1
    assert result.out.splitlines()[:-1] == [
        "stale: src/changed_qten.py",
        "stale: src/edited_qten.py (edited by hand, or merged)",
        "orphan: src/gone_qten.py",
        "orphan: src/gone_qten.pyi",
        "help: run qten-gen src, and commit what it writes",
    ]
    assert result.summary == "2 files up to date, 2 stale, 2 orphaned"


def test_check_reports_errors_as_well(qten_gen: Command) -> None:
    qten_gen.write("src/model.py", BROKEN)
    result = qten_gen("--check", "src")
    assert result.status == 1
    assert "unknown-flag" in result.out
    assert result.summary == "1 error in 1 file"


def test_diagnostics_of_a_diff_go_to_standard_error(qten_gen: Command) -> None:
    qten_gen.write("src/model.py", BROKEN)
    result = qten_gen("--diff", "src")
    assert (result.status, result.out) == (1, "")
    assert "unknown-flag" in result.err


def test_quiet_prints_nothing_when_all_is_well(qten_gen: Command) -> None:
    qten_gen.write("src/model.py", BATCH)
    assert qten_gen("-q", "src").out == ""


def test_quiet_prints_errors(qten_gen: Command) -> None:
    qten_gen.write("src/model.py", BROKEN)
    result = qten_gen("-q", "src")
    assert result.status == 1
    assert "unknown-flag" in result.out


def test_verbose_lists_what_was_written_and_removed(qten_gen: Command) -> None:
    qten_gen.write("src/model.py", BATCH)
    assert qten_gen("-v", "src").out.splitlines()[:-1] == [
        "written: src/model_qten.py (new)",
        "written: src/model_qten.pyi (new)",
    ]
    (qten_gen.folder / "src/model.py").unlink()
    assert qten_gen("-v", "src").out.splitlines()[:-1] == [
        "removed: src/model_qten.py (its source is gone)",
        "removed: src/model_qten.pyi (its source is gone)",
    ]


def test_json_is_one_document_on_standard_output(qten_gen: Command) -> None:
    qten_gen.write("src/model.py", BROKEN)
    result = qten_gen("--output-format", "json", "src")
    assert json.loads(result.out)
    assert result.err.startswith("1 error in 1 file; nothing written in ")


def test_diagnostics_are_annotations_on_github(qten_gen: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    qten_gen.write("src/model.py", BROKEN)
    assert qten_gen("src").out.startswith("::error ")


def test_a_run_in_a_folder_of_the_checkout_names_files_from_its_top(
    qten_gen: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    pattern = r"::error .*file=(.+?),"
    qten_gen.write("search/src/model.py", BROKEN)
    qten_gen.write("search/src/fine.py", BATCH)
    monkeypatch.chdir(qten_gen.folder / "search")
    run = ("--check", "--output-format", "github", "src")
    assert set(re.findall(pattern, qten_gen(*run).out)) == {"src/model.py", "src/fine.py"}
    monkeypatch.setenv("GITHUB_WORKSPACE", str(qten_gen.folder))
    assert set(re.findall(pattern, qten_gen(*run).out)) == {"search/src/model.py", "search/src/fine.py"}
    monkeypatch.setenv("GITHUB_WORKSPACE", str(qten_gen.folder / "elsewhere"))
    assert set(re.findall(pattern, qten_gen(*run).out)) == {"src/model.py", "src/fine.py"}


def test_an_output_format_of_the_command_line_wins_over_github(
    qten_gen: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    qten_gen.write("src/model.py", BROKEN)
    assert qten_gen("src", "--output-format", "concise").out.startswith("src/model.py:4:")


@pytest.mark.parametrize(
    ("arguments", "variables", "coloured"),
    [
        ([], {}, False),
        (["--color", "always"], {}, True),
        (["--color", "always"], {"NO_COLOR": "1"}, True),
        ([], {"FORCE_COLOR": "1"}, True),
        ([], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (["--color", "never"], {"FORCE_COLOR": "1"}, False),
    ],
)
def test_colour_is_used_where_it_is_wanted(
    qten_gen: Command, monkeypatch: pytest.MonkeyPatch, arguments: list[str], variables: dict[str, str], coloured: bool
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    qten_gen.write("src/model.py", BROKEN)
    assert ("\x1b[" in qten_gen("src", *arguments).out) is coloured


def test_the_counts_of_a_summary_agree_with_their_nouns(qten_gen: Command) -> None:
    qten_gen.write("src/a.py", BROKEN)
    assert qten_gen("src").summary == "1 error in 1 file; nothing written"
    qten_gen.write("src/b.py", BROKEN)
    assert qten_gen("src").summary == "2 errors in 2 files; nothing written"


def test_a_tree_without_declarations_says_so(qten_gen: Command) -> None:
    qten_gen.write("src/model.py", "x = 1\n")
    result = qten_gen("src")
    assert (result.status, result.summary) == (0, "no declarations in 1 Python file")


def test_a_folder_without_python_files_says_so(qten_gen: Command) -> None:
    Path("empty").mkdir()
    result = qten_gen("empty")
    assert (result.status, result.summary) == (0, "no Python files found")


def test_warnings_do_not_fail_a_run_and_are_repeated_by_the_next(qten_gen: Command) -> None:
    qten_gen.write("src/model.py", BATCH + "    weight: float\n")
    first = qten_gen("src")
    assert (first.status, first.summary) == (0, "2 files written; 1 warning")
    second = qten_gen("src")
    assert (second.status, second.summary) == (0, "2 files up to date; 1 warning")
    assert first.out.splitlines()[:-1] == second.out.splitlines()[:-1]
