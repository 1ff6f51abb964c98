"""`qten-gen - --stdin-filename FILE`."""

import io
import json
import subprocess
from typing import Protocol

import pytest

from tests.command import BATCH, BROKEN, Command, Result


class Run(Protocol):
    """A call of the command with a text on standard input."""

    def __call__(self, text: str, *arguments: str, name: str = "src/model.py") -> Result: ...


@pytest.fixture
def on_text(qten_gen: Command, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A project, and the command for a text of one of its files."""

    def run(text: str, *arguments: str, name: str = "src/model.py") -> Result:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        return qten_gen("-", "--stdin-filename", name, *arguments)

    qten_gen.write("pyproject.toml", "")
    qten_gen.write("src/model.py", BATCH)
    qten_gen.write("src/base.py", BATCH.replace("Batch", "Base"))
    qten_gen("src")
    return run


def test_a_text_is_checked_in_place_of_the_file_and_nothing_is_written(qten_gen: Command, on_text: Run) -> None:
    before = qten_gen.times()
    cache = qten_gen.read(".qten_cache/manifest.json")
    result = on_text(BROKEN, "--output-format", "concise")
    assert (result.status, result.err) == (1, "")
    assert result.out.startswith("src/model.py:5:26: error QG104") and len(result.out.splitlines()) == 1
    good = on_text(BATCH + "    y: Tensor\n")
    assert (good.status, good.out, good.err) == (0, "", "")
    assert qten_gen.times() == before and qten_gen.read(".qten_cache/manifest.json") == cache
    assert qten_gen("--check", "src").status == 0


def test_imports_of_the_text_count_and_not_those_of_the_file(on_text: Run) -> None:
    child = "from base import Base\n\nclass Child(Base):\n    w: float = 1.0\n"
    assert "QG210" in on_text(child, "--output-format", "concise").out
    lost = child.replace("base", "bose").replace("Child", "Batch")
    assert "QG007" in on_text(lost, "--output-format", "concise").out


def test_a_diff_of_a_text_is_what_a_run_would_write(qten_gen: Command, on_text: Run) -> None:
    text = BATCH + "    y: Tensor\n"
    assert on_text(BATCH, "--diff").status == 0
    result = on_text(text, "--diff")
    assert result.status == 1
    subprocess.run(["git", "apply", "-p1"], input=result.out.encode(), cwd=qten_gen.folder, check=True)
    qten_gen.write("src/model.py", text)
    assert qten_gen("--check", "src").status == 0


def test_check_says_whether_the_text_fits_the_generated_files(on_text: Run) -> None:
    assert on_text(BATCH, "--check").summary == "2 files up to date"
    found = json.loads(on_text(BATCH + "    y: Tensor\n", "--check", "--output-format", "json").out)["files"]
    assert {item["reason"] for item in found} == {"class Batch changed"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-"], "error: the path - requires --stdin-filename FILE, and cannot be combined with other paths"),
        (
            ["--stdin-filename", "a.py"],
            "error: the path - requires --stdin-filename FILE, and cannot be combined with other paths",
        ),
        (["-", "src", "--stdin-filename", "a.py"], "error: the path - requires --stdin-filename FILE, and cannot be"),
        (["-", "--fix", "--stdin-filename", "a.py"], "error: --fix cannot write to standard input"),
    ],
)
def test_a_wrong_use_is_told(qten_gen: Command, arguments: list[str], message: str) -> None:
    result = qten_gen(*arguments)
    assert result.status == 2 and result.err.startswith(message)


@pytest.mark.parametrize("name", ["src/other.py", "src/new/folder/other.py"])
def test_a_text_of_a_file_that_is_not_there_yet_is_checked(qten_gen: Command, on_text: Run, name: str) -> None:
    result = on_text(BROKEN, "--output-format", "concise", name=name)
    assert (result.status, result.err) == (1, "")
    assert result.out.startswith(f"{name}:5:26: error QG104")
    assert on_text(BATCH, name=name).out == ""
    assert on_text(BATCH, "--check", name=name).summary == "2 files missing"
    child = "from base import Base\n\nclass Child(Base):\n    w: float = 1.0\n"
    assert "QG210" in on_text(child, name=name).out
    assert not qten_gen.exists(name)


def test_a_name_that_cannot_be_that_of_a_source_is_told(on_text: Run) -> None:
    assert on_text(BATCH, name="src/model_qten.py").err == "error: src/model_qten.py is a generated file\n"
    assert (
        on_text(BATCH, name="src/model.txt").err
        == "error: no such file or folder: src/model.txt; did you mean src/model.py?\n"
    )


def test_a_text_cannot_be_that_of_a_folder(on_text: Run) -> None:
    result = on_text(BATCH, name="src")
    assert result.status == 2
    assert result.err == "error: src is a folder: --stdin-filename takes the file that the text belongs to\n"
