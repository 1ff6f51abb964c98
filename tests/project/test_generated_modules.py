"""Imports from generated modules: whatever the way and the border between projects, they mean the declaration.

Files import a TensorClass and a Module of `shapes.model` in every way that Python has. The generator reads the text, and the
program runs the same statements with `QTEN_GEN_JIT=off`, where a generated class that differs from its declaration is an error.
"""

from pathlib import Path

import pytest

from qten_gen.project import libraries
from tests.command import Command
from tests.fresh_process import run
from tests.project.installed import Environment

SHAPES = {
    "shapes/__init__.py": """
        from torch import Tensor
        from qten_gen import Module, TensorClass
        from .model_qten import Layer, Point

        class Dot(TensorClass):
            xy: Tensor

        class Sheet(Module):
            width: int
    """,
    "shapes/everything.py": "from .model_qten import *\n",
    "shapes/model.py": """
        from torch import Tensor, nn
        from qten_gen import Module, TensorClass, param

        class Point(TensorClass):
            xy: Tensor

        class Layer(Module):
            width: int
            weight: nn.Parameter = param("width", initializer=nn.init.zeros_)
    """,
}

WAYS = {
    "names": ("from shapes.model_qten import Point, Layer", "Point", "Layer"),
    "renamed": ("from shapes.model_qten import Point as P, Layer as L", "P", "L"),
    "module": ("import shapes.model_qten", "shapes.model_qten.Point", "shapes.model_qten.Layer"),
    "module_renamed": ("import shapes.model_qten as made", "made.Point", "made.Layer"),
    "from_package": ("from shapes import model_qten", "model_qten.Point", "model_qten.Layer"),
    "star": ("from shapes.model_qten import *", "Point", "Layer"),
    "reexported": ("from shapes import Point, Layer", "Point", "Layer"),
    "reexported_by_star": ("from shapes.everything import *", "Point", "Layer"),
    "of_package": ("from shapes._qten import Dot, Sheet", "Dot", "Sheet"),
}
"""Statements that import the classes, and the names that they bind."""

USE = """
from __future__ import annotations
from qten_gen import Module, TensorClass, submodule
from torch import Tensor
{statement}

class Box(TensorClass):
    corner: {point}

class Marked({point}):
    label: str

class Net(Module):
    layer: {layer} = submodule({layer}, 3)

class Deeper({layer}):
    depth: int
"""

FOR_CHECKERS = """
from __future__ import annotations
from typing import TYPE_CHECKING
from qten_gen import TensorClass
from torch import Tensor
if TYPE_CHECKING:
    {statement}

class Box(TensorClass):
    corner: {point}
"""

WRONG = """
from qten_gen import Module, submodule
{statement}

class Net(Module):
    layer: {layer} = submodule({layer}, 3, widht=3)
"""

PROGRAM = """
import importlib, sys, torch
for name in sys.argv[1:]:
    use = importlib.import_module(f"app.{name}")
    importlib.import_module("shapes.model")
    point = importlib.import_module("shapes").Dot if "of_package" in name else importlib.import_module("shapes").Point
    box = use.Box(corner=point(xy=torch.zeros(4, 2), batch_size=[4]), batch_size=[4])
    assert box[0].corner.batch_size == torch.Size([]), name
    if name.startswith("use_"):
        assert use.Marked(xy=torch.zeros(4, 2), label="a", batch_size=[4])[0].batch_size == torch.Size([]), name
        assert use.Net().layer.width == 3, name
        assert use.Deeper(width=2, depth=3).width == 2, name
print("right")
"""

BORDERS = ["project", "source root", "library", "library without generated files"]


@pytest.mark.parametrize("border", BORDERS)
def test_a_generated_module_means_its_declarations(
    qten_gen: Command, tmp_path_factory: pytest.TempPathFactory, border: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path_factory.mktemp("shapes")
    settings = _write_shapes(qten_gen, folder, border)
    if border.startswith("library"):
        monkeypatch.setattr(libraries, "search_path", lambda: [str(_root(qten_gen, folder, border))])
    qten_gen.write("pyproject.toml", f"[tool.qten-gen]\n{settings}")
    qten_gen.write("app/__init__.py", "")
    names = []
    for way, (statement, point, layer) in WAYS.items():
        for kind, text in (("use", USE), ("checked", FOR_CHECKERS)):
            if kind == "checked" and "*" in statement:
                continue  # the class statement is refused: no text says which names it would bind
            names.append(f"{kind}_{way}")
            qten_gen.write(f"app/{names[-1]}.py", text.format(statement=statement, point=point, layer=layer))
    result = qten_gen("app", *(["shapes"] if border == "project" else []))
    assert (result.status, "warning" in result.out) == (0, False), result.out
    for name in names:
        text = qten_gen.read(f"app/{name}_qten.py")
        nested = "shapes:Dot" if name.endswith("of_package") else "shapes.model:Point"
        assert nested in text and ("class _Marked" in text) == name.startswith("use"), text
    assert qten_gen("--check", "app").status == 0
    if border != "library without generated files":  # there, an import of one fails
        path = [str(qten_gen.folder), str(_root(qten_gen, folder, border))]
        done = run(
            "-c", PROGRAM, *names, cwd=qten_gen.folder, env={"PYTHONPATH": ":".join(path), "QTEN_GEN_JIT": "off"}
        )
        assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr
    for way, (statement, _, layer) in WAYS.items():
        qten_gen.write(f"app/wrong_{way}.py", WRONG.format(statement=statement, layer=layer))
    found = qten_gen("--output-format=concise", "app").out
    assert found.count("invalid-submodule-argument") == len(WAYS), found


def test_an_import_of_the_generated_module_imports_the_handlers_beside_it(qten_gen: Command) -> None:
    qten_gen.write("pyproject.toml", "[tool.qten-gen]\n")
    for path, text in SHAPES.items():
        qten_gen.write(path, text)
    qten_gen.write(
        "shapes/sounds.py",
        """
        from qten_gen import TensorClass
        from torch import Tensor
        from .model import Layer

        class Sound(TensorClass):
            wave: Tensor

        @Layer.register(Sound)
        def _(layer: Layer, sound: Sound) -> Tensor:
            return sound.wave
        """,
    )
    qten_gen.write("main.py", "")
    assert "QG403" in qten_gen(".").out
    qten_gen.write("main.py", "from shapes.sounds_qten import Sound\n")
    assert "QG403" not in qten_gen(".").out


def test_a_module_of_another_library_may_end_with_the_same_letters(qten_gen: Command) -> None:
    qten_gen.write("gadgets_qten.py", "class Base: ...\n")
    qten_gen.write("use.py", "from qten_gen import TensorClass\nfrom gadgets_qten import Base\nclass Box(Base): ...\n")
    assert qten_gen(".").status == 0


def _write_shapes(qten_gen: Command, folder: Path, border: str) -> str:
    """Write the package where a border has it, with what is generated for it; the settings that find it."""
    command = Command(_root(qten_gen, folder, border))
    for path, text in SHAPES.items():
        command.write(path, text)
    if border == "project":
        return ""
    if border != "library without generated files":
        assert command(str(command.folder)).status == 0
    if border == "source root":
        return f'source-roots = [".", "{folder}"]\n'
    Environment(folder / "environment").metadata("shapes", list(SHAPES))
    return ""


def _root(qten_gen: Command, folder: Path, border: str) -> Path:
    """The folder that the package is imported from."""
    if border == "project":
        return qten_gen.folder
    return folder if border == "source root" else folder / "environment/lib/python3.11/site-packages"
