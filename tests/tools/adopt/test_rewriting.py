"""What a file keeps whose classes are rewritten, and what happens where libcst cannot rewrite it."""

from __future__ import annotations

import pytest

from qten_gen.project.import_graph import graph_from_texts
from qten_gen.tools.adopt.adopting import adopt
from qten_gen.tools.adopt.opening import Sources
from qten_gen.tools.adopt.records import Level, Options, Outcome

from .adopted import adopted, reasons

_HEAD = "from torch import nn\n"
_CLASS = "class A(nn.Module):\n    layer = nn.ReLU\n"
_AFTER = "class A(Module):\n    layer = nn.ReLU\n"
_NEW = "from qten_gen import Module\n"


def _of_bytes(data: bytes) -> Outcome:
    origins = graph_from_texts({"model.py": data}).origins
    return adopt(Sources.of({"model.py": data}, origins, ["model.py"]), Options(Level.BASE))


KEPT = {
    "form feeds": f"\f\n{_HEAD}\n\f\n{{}}\f\nx = 1\n",
    "tabs": f"{_HEAD}{{}}\tdef f(self):\n\t\t\tif self :\n\t\t\t\treturn\n".replace("    layer", "\tlayer"),
    "no line end at the end": f"{_HEAD}{{}}x = (1 ,2)",
    "backslashes and semicolons": f"{_HEAD}x = 1 + \\\n  2; y = '''\n  '''; z = 3\n{{}}    def f(self): return (\n 1); g = 2\n",
    "decorators and comments": f"{_HEAD}{{}}\n    @property\n    # one\n    def f(self):  # two\n        # three\n\n        @g\n"
    "        def h(): ...\n        # four\n    # five\n# six\n",
    "another class of that name": f"{_HEAD}def f():\n    class A(nn.Module): ...\nclass B:\n    class A: ...\n{{}}",
    "blocks": f"{_HEAD}if x:\n    y = [\n 1]\nelse:\n    pass\ntry: z()\nexcept E:\n    z = '''\n'''\nfinally:\n    pass\n{{}}",
}


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_what_does_not_change_is_kept(text: str) -> None:
    before, after = (each.replace("    layer", "\tlayer") if "\t" in text else each for each in (_CLASS, _AFTER))
    assert adopted(text.format(before)) == text.format(after).replace(_HEAD, _NEW + _HEAD)


def test_a_class_in_a_block_changes_and_its_block_does_not() -> None:
    text = "{}if x:\n    y = [\n 1]\n\n    class A({}):\n        layer = nn.ReLU\nelse:\n    z = '''\n'''\n"
    assert adopted(text.format(_HEAD, "nn.Module")) == text.format(_NEW + _HEAD, "Module")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "latin-1", "cp1252"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_encoding_is_kept(encoding: str, end: str) -> None:
    head = "" if encoding == "utf-8-sig" else f"# coding: {encoding}\n"
    before, after = (
        f"{head}{each}    x = 'ä'\n".replace("\n", end) for each in (_HEAD + _CLASS, _NEW + _HEAD + _AFTER)
    )
    assert _of_bytes(before.encode(encoding)).texts["model.py"] == after.encode(encoding)


def test_what_is_nested_deeply_does_no_harm_in_a_function_and_keeps_a_class_with_the_reason() -> None:
    deep = " + ".join(["1"] * 900)
    inside = f"{_HEAD}{_CLASS}\n    def f(self):\n        x = {deep}\n        return x\n"
    assert adopted(inside) == inside.replace(_HEAD + _CLASS, _NEW + _HEAD + _AFTER)
    beside = f"{_HEAD}{_CLASS}    x = {deep}\n"
    assert reasons(beside) == {"A": "it is nested too deeply for libcst, which rewrites it"}
    assert adopted(beside) == beside


def test_a_file_that_libcst_would_change_elsewhere_stays_with_the_reason() -> None:
    text = f"{_HEAD}\f{_CLASS}"
    assert reasons(text) == {
        "A": "libcst, which rewrites it, would change other lines too: one may begin with a form feed"
    }
    assert adopted(text) == text


def test_an_import_of_the_standard_library_stands_above_those_of_other_packages() -> None:
    text = """\
from __future__ import annotations

import torch
from qten_gen import Module
from torch import Tensor


class A(Module):
    def forward(self, x) -> tuple[Tensor, Tensor]:
        return x, x, x
"""
    wanted = "from __future__ import annotations\n\nfrom typing import Any, ClassVar\n\nimport torch\n"
    assert adopted(text, Level.ANNOTATE).startswith(wanted)


def test_names_are_added_to_an_import_where_isort_puts_them() -> None:
    text = "from torch import (\n    nn,  # layers\n    zeros\n)\n\n\nclass A(nn.Module):\n    def __init__(self):\n"
    text += "        super().__init__()\n        self.register_buffer('x', zeros(2))\n        self.y = nn.ReLU()\n"
    assert adopted(text, Level.ANNOTATE).startswith(
        "from qten_gen import Module\nfrom torch import (\n    Tensor,\n    nn,  # layers\n    zeros\n)\n"
    )


_TEXT = '''\
import torch
from torch import nn


class Mixer(nn.Module):
    """Mix.

    Twice.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.up = nn.Linear(dim, dim)  # up
        # shifts
        self.register_buffer("shift", torch.ones(3))

    def forward(self, x):
        return self.up(x)'''


@pytest.mark.parametrize("end", ["\r\n", "\r"], ids=["CRLF", "CR"])
@pytest.mark.parametrize("level", Level)
def test_a_file_is_edited_alike_whatever_ends_its_lines(level: Level, end: str) -> None:
    plain = adopted(_TEXT, level)
    assert plain != _TEXT
    assert adopted(_TEXT.replace("\n", end), level) == plain.replace("\n", end)


def test_in_a_file_with_several_line_ends_each_line_keeps_its_own_and_new_ones_get_the_first() -> None:
    head, rest = "import torch\r\n", "    x = 1\r    y = torch\n\nz = nn"
    before = f"{head}from torch import nn\n\r\n\nclass A(nn.Module):\r\n{rest}"
    after = f"{head}from qten_gen import Module\r\nfrom torch import nn\n\r\n\nclass A(Module):\r\n{rest}"
    assert adopted(before) == after


@pytest.mark.parametrize("character", ["\f", "\v", "\x1c", "\x85", "\u2028"])
def test_a_character_that_ends_no_line_for_python_moves_no_comment(character: str) -> None:
    head = f"# one{character}two\n"
    assert adopted(head + _TEXT, Level.ANNOTATE) == head + adopted(_TEXT, Level.ANNOTATE)
