"""Runs that write nothing, and how much a run says."""

import io
import re
import sys

import pytest

from qten_gen.common import progress
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


@pytest.mark.parametrize(
    ("arguments", "has_out", "has_err"),
    [(["--check"], True, False), (["--diff"], False, True), (["-q"], True, False)],
)
def test_errors_are_reported_where_messages_go(
    qten_gen: Command, arguments: list[str], has_out: bool, has_err: bool
) -> None:
    qten_gen.write("src/model.py", BROKEN)
    result = qten_gen(*arguments, "src")
    assert (result.status, "unknown-flag" in result.out, "unknown-flag" in result.err) == (1, has_out, has_err)
    assert has_out or result.out == ""


def test_verbose_lists_what_was_written_and_removed(qten_gen: Command) -> None:
    qten_gen.write("src/model.py", BATCH)
    assert qten_gen("-v", "src").out.splitlines()[:-1] == ["written: src/model_qten.py", "written: src/model_qten.pyi"]
    (qten_gen.folder / "src/model.py").unlink()
    assert qten_gen("-v", "src").out.splitlines()[:-1] == ["removed: src/model_qten.py", "removed: src/model_qten.pyi"]


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


@pytest.mark.parametrize(
    ("files", "status", "summary"),
    [
        ({"a.py": BROKEN}, 1, "1 error in 1 file; nothing written"),
        ({"a.py": BROKEN, "b.py": BROKEN}, 1, "2 errors in 2 files; nothing written"),
        ({"a.py": "x = 1\n"}, 0, "no declarations in 1 Python file"),
        ({"notes.txt": ""}, 0, "no Python files found"),
    ],
)
def test_a_summary_counts_what_there_is(qten_gen: Command, files: dict[str, str], status: int, summary: str) -> None:
    for name, text in files.items():
        qten_gen.write(f"src/{name}", text)
    result = qten_gen("src")
    assert (result.status, result.summary) == (status, summary)
    assert qten_gen("-q", "src").out == "" or status


def test_warnings_do_not_fail_a_run_and_are_repeated_by_the_next(qten_gen: Command) -> None:
    qten_gen.write("src/model.py", BATCH + "    weight: float\n")
    first = qten_gen("src")
    assert (first.status, first.summary) == (0, "2 files written; 1 warning")
    second = qten_gen("src")
    assert (second.status, second.summary) == (0, "2 files up to date; 1 warning")
    assert first.out.splitlines()[:-1] == second.out.splitlines()[:-1]


NET = "from torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((".",), ("generating: 0 of 2 files",)),
        (("check", "."), ("reading: 0 of 1 files", "checking: 0 of 1 files")),
        (("adopt", "."), ("reading: 0 of 3 files", "adopting: 1 of 3 files")),
    ],
)
@pytest.mark.parametrize("is_terminal", [True, False])
def test_long_work_says_on_a_terminal_how_far_it_is(
    qten_gen: Command, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: tuple[str, ...], is_terminal: bool
) -> None:
    qten_gen.write("a.py", BATCH)
    qten_gen.write("b.py", BATCH)
    qten_gen.write("net.py", NET)
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: is_terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "_PATIENCE", -1)
    monkeypatch.setattr(progress, "_INTERVAL", -1)
    qten_gen(*arguments)
    assert all((text in stream.getvalue()) is is_terminal for text in said), stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[K") is is_terminal and (is_terminal or not stream.getvalue())
