"""`qten-gen --fix`."""

import pytest

from tests.command import Command

SOURCE = """\
# -*- coding: latin-1 -*-
from torch import Tensor, nn
from qten_gen import Module, TensorClass, buffer, param


class Batch(TensorClass, frozn=True):  # größe
    tokens:   Tensor
    mask : Tensor   =  None  # why
    ids: "Tensor" = None


class Net(Module):
    dim: int; heads: int
    weight: nn.Parameter = param( "3*dmi" ,  'heds', initializer=nn.init.ones_ )
"""
MENDED = SOURCE.replace("frozn", "frozen").replace("mask : Tensor ", "mask : Tensor | None ").replace("dmi", "dim")
MENDED = MENDED.replace("heds", "heads")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_only_what_a_rule_is_sure_of_is_mended_and_nothing_else_changes(qten_gen: Command, end: str) -> None:
    path = qten_gen.folder / "model.py"
    path.write_bytes(SOURCE.replace("\n", end).encode("latin-1"))
    result = qten_gen("--fix", "--output-format", "concise", ".")
    assert path.read_bytes() == MENDED.replace("\n", end).encode("latin-1")
    assert result.status == 1
    assert [line.split(": ")[0:2] for line in result.out.splitlines() if line.startswith("fixed")] == [
        ["fixed", "model.py:6"],
        ["fixed", "model.py:8"],
        ["fixed", "model.py:14"],
        ["fixed", "model.py:14"],
    ]
    assert result.out.startswith("model.py:9:21: error QG213") and "1 error in 1 file" in result.summary


def test_the_file_is_generated_once_it_is_mended(qten_gen: Command) -> None:
    qten_gen.write("model.py", SOURCE.replace('    ids: "Tensor" = None\n', "").replace("ö", "o").replace("ß", "s"))
    result = qten_gen("--fix", ".")
    assert (result.status, result.summary) == (0, "2 files written")
    assert qten_gen("--fix", ".").summary == "2 files up to date"


@pytest.mark.parametrize(
    "text",
    [
        "class A(TensorClass, frzzn=True):\n    x: Tensor\n",
        "class A(TensorClass['frozn']):\n    x: Tensor\n",
        "class A(TensorClass):\n    x: Tensr\n",
        "class A(TensorClass):\n    x: Tensor = 3\n",
        'class A(Module):\n    dima: int\n    dimb: int\n    w: nn.Parameter = param("dim", initializer=nn.init.ones_)\n',
        'class A(Module):\n    dim: int\n    w: nn.Parameter = param("dmi", initializer=nn.init.ones_)  # \\\n    y = (\n',
    ],
)
def test_what_may_mean_several_things_stays(qten_gen: Command, text: str) -> None:
    source = f"from torch import Tensor, nn\nfrom qten_gen import Module, TensorClass, param\n\n{text}"
    qten_gen.write("model.py", source)
    assert qten_gen("--fix", ".").status == 1
    assert qten_gen.read("model.py") == source


def test_a_file_outside_the_paths_is_not_mended(qten_gen: Command) -> None:
    qten_gen.write("pyproject.toml", "")
    base = (
        "from torch import Tensor\nfrom qten_gen import TensorClass\nclass A(TensorClass, frozn=True):\n    x: Tensor\n"
    )
    qten_gen.write("base.py", base)
    qten_gen.write("sub/child.py", "from base import A\nclass B(A):\n    y: str\n")
    qten_gen("--fix", "sub")
    assert qten_gen.read("base.py") == base


def test_a_link_to_what_is_mended_stays_a_link(qten_gen: Command) -> None:
    text = SOURCE.replace("ö", "o").replace("ß", "s")
    path = qten_gen.write("src/parts/model.py", text)
    link = qten_gen.folder / "src/model.py"
    link.symlink_to("parts/model.py")
    qten_gen("--fix", "src")
    assert link.is_symlink()
    assert "frozen=True" in path.read_text(encoding="utf-8")


def test_fix_does_not_go_with_modes_that_write_nothing(qten_gen: Command) -> None:
    assert qten_gen("--fix", "--check", ".").status == 2


@pytest.mark.parametrize(
    ("below", "why"),
    [
        ("x = " + " + ".join(["1"] * 900) + "\n", "it is nested too deeply for libcst, which rewrites it"),
        ("\fy = 1\n", "libcst, which rewrites it, would change other lines too: one may begin with a form feed"),
    ],
)
def test_a_file_that_libcst_cannot_write_back_stays_and_a_note_says_why(
    qten_gen: Command, below: str, why: str
) -> None:
    source = f"from torch import Tensor\nfrom qten_gen import TensorClass\nclass A(TensorClass, frozn=1):\n    x: Tensor\n{below}"
    qten_gen.write("model.py", source)
    result = qten_gen("--fix", ".")
    assert result.status == 1
    assert f"note: --fix leaves the file as it is: {why}" in result.out
    assert qten_gen.read("model.py") == source
