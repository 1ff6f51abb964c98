"""What happens to files in real life: each ends in right output or in one clear message, and nothing is lost."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import BATCH, Command

CONFLICT = "<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> branch\n"


def first(qten_gen: Command) -> str:
    """The first line that a run prints."""
    return qten_gen("--output-format=concise", ".").out.splitlines()[0]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_a_declaration_in_utf16_is_told_of(qten_gen: Command, encoding: str) -> None:
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    qten_gen.write("model.py", "").write_bytes((mark + BATCH).encode(encoding))
    byte = "0xfe" if encoding == "utf-16-be" else "0xff"
    assert first(qten_gen) == f"model.py:1:1: error QG002 [undecodable-file]: byte {byte} is not valid utf-8"


def test_a_merge_conflict_in_a_source_is_called_by_its_name(qten_gen: Command) -> None:
    qten_gen.write("model.py", BATCH)
    qten_gen(".")
    before = qten_gen.read("model_qten.py")
    qten_gen.write("model.py", BATCH + CONFLICT.format(ours="    y: Tensor\n", theirs="    y: str\n"))
    assert first(qten_gen) == "model.py:6:1: error QG001 [syntax-error]: a merge conflict is not resolved"
    assert qten_gen.read("model_qten.py") == before


@pytest.mark.parametrize("base", ["", "||||||| 0a1b2c3\n# qten-gen: format=1 body=000000000000\n"])
def test_a_merge_conflict_in_a_generated_file_is_not_work_to_keep(qten_gen: Command, base: str) -> None:
    qten_gen.write("model.py", BATCH)
    qten_gen(".")
    merged = qten_gen.read("model_qten.py")
    head, digest, rest = merged.split("\n", 2)
    other = "# qten-gen: format=1 body=0a1b2c3d4e5f"
    conflict = f"<<<<<<< HEAD\n{digest}\n{base}=======\n{other}\n>>>>>>> branch\n"
    (qten_gen.folder / "model_qten.py").write_text(f"{head}\n{conflict}{rest}", encoding="utf-8")
    assert qten_gen("--check", ".").out.splitlines()[0] == "stale: model_qten.py (edited by hand, or merged)"
    assert qten_gen(".").summary == "1 file up to date, 1 written"
    assert qten_gen.read("model_qten.py") == merged


@pytest.mark.parametrize("beside", [False, True])
def test_a_declaration_under_the_name_of_a_generated_file_is_told_of(qten_gen: Command, beside: bool) -> None:
    qten_gen.write("batch_qten.py", BATCH)
    if beside:
        qten_gen.write("batch.py", "x = 1\n")
    result = qten_gen(".")
    assert (result.status, result.err) == (
        2,
        "error: batch_qten.py: it contains declarations, but has the name of a generated file; rename it\n",
    )
    assert qten_gen.read("batch_qten.py") == BATCH.lstrip("\n")


def test_several_runs_at_once_leave_what_one_leaves(qten_gen: Command) -> None:
    for number in range(5):
        qten_gen.write(f"pkg/m{number}.py", BATCH)
    command = [sys.executable, "-m", "qten_gen", "--quiet", "pkg"]
    environment = {"PYTHONPATH": str(Path(__file__).parents[2])}
    runs = [subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) for _ in range(3)]
    assert [(run.communicate()[1], run.returncode) for run in runs] == [(b"", 0)] * 3
    assert qten_gen("--check", "pkg").summary == "10 files up to date"
    assert not [path for path in (qten_gen.folder / "pkg").iterdir() if path.suffix == ".tmp"]


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        (
            "class Batch(TensorClass, Enum): ...",
            "QG102",
            "Batch is a declaration, so it cannot derive from enum.Enum",
        ),
        (
            "class Net(Module, Protocol): ...",
            "QG102",
            "Net is a declaration, so it cannot derive from typing.Protocol",
        ),
        (
            "@dataclass\nclass D:\n    n: int\nclass Batch(D, TensorClass): ...",
            "QG102",
            "Batch is a declaration, so it cannot derive from the dataclass D",
        ),
        (
            "if FLAG:\n    class Batch(TensorClass): ...\nelse:\n    class Batch(TensorClass): ...",
            "QG108",
            "this file already defines a class Batch",
        ),
        (
            "class Batch(TensorClass):\n    self: Tensor",
            "QG203",
            "'self' is the object itself in the constructor, so a field cannot have this name",
        ),
        (
            "class Batch(TensorClass):\n    x: 'Later'\nLater = Tensor",
            "QG207",
            "Later is defined below the class, so it does not exist yet when the class is created",
        ),
    ],
)
def test_what_cannot_be_is_said_in_one_line(qten_gen: Command, text: str, code: str, message: str) -> None:
    head = (
        "from dataclasses import dataclass\nfrom enum import Enum\nfrom typing import Final, Protocol\n"
        "from torch import Tensor\nfrom qten_gen import Module, TensorClass, param\nFLAGS = {}\n"
    )
    qten_gen.write("model.py", head).write_text(f"{head}{text}\n", encoding="utf-8")
    line = first(qten_gen)
    assert (line.split()[2], line.partition("]: ")[2]) == (code, message)
    assert not qten_gen.exists("model_qten.py")
