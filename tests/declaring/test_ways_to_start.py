"""What works in a module works however people start it: as a script or a plugin, out of a zip file, without its source."""

import os
from pathlib import Path
from typing import Any

import pytest

import qten_gen
from tests import fresh_process

DECLARATIONS = '''
"""Declarations of every kind, and what has to hold for them."""
from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Protocol

import torch
from torch import Tensor, nn

from qten_gen import Module, TensorClass, param

if TYPE_CHECKING:
    from decimal import Decimal


class Mode(enum.Enum):
    fast = "fast"


class Sized(Protocol):
    def size(self) -> int: ...


class Line(TensorClass):
    """Refers to a class that stands further down."""

    start: Point
    parent: Line | None = None


class Point(TensorClass, Sized):
    x: Tensor
    mode: Mode = Mode.fast

    def size(self) -> int:
        return self.x.numel()


class Net(Module):
    width: int
    mode: Mode = Mode.fast
    price: Decimal | None = None
    weight: nn.Parameter = param("width", initializer=nn.init.ones_)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight


def works() -> str:
    point = Point(torch.ones(2), batch_size=2)
    line = Line(point, Line(point, batch_size=2), batch_size=2)[0]
    found = [line.start.batch_size, line.parent.start.batch_size, point.size(), Net(2)(point.x).tolist()]
    right = found == [(), (), 2, [1.0, 1.0]]
    return "right" if right and type(line.start) is Point else f"wrong: {found}"
'''

LOCAL = """
import torch
from torch import Tensor, nn
from qten_gen import Module, TensorClass, param

def local() -> str:
    class Point(TensorClass):
        x: Tensor

    class Line(TensorClass):
        start: Point
        end: "Point | None" = None
        parent: "Line | None" = None

    class Child(Line):
        mark: Tensor | None = None

    class Net(Module):
        width: int
        point: Point | None = None
        weight: nn.Parameter = param("width", initializer=nn.init.ones_)

    point = Point(torch.ones(2), batch_size=2)
    line = Line(point, point, Line(point, batch_size=2), batch_size=2)[0]
    child = Child(point, parent=Line(point, batch_size=2), batch_size=2)[0]
    found = [type(value) for value in (line.start, line.end, line.parent.start, child.start)]
    return "right" if set(found) == {Point} and Net(2, point).weight.tolist() == [1.0, 1.0] else f"wrong: {found}"
"""

IN_ONE_PROCESS = """
import doctest, importlib, importlib.util, pathlib, py_compile, runpy, shutil, sys, types, zipfile

def plugin(name, registered):
    spec = importlib.util.spec_from_file_location(name, "model.py")
    module = importlib.util.module_from_spec(spec)
    if registered:
        sys.modules[name] = module
    spec.loader.exec_module(module)
    return module.works()

def executed(names, optimize=-1):
    exec(compile(pathlib.Path("model.py").read_text(), "model.py", "exec", optimize=optimize), names)
    return names["works"]()

def forgotten():
    for name in [name for name in sys.modules if name.startswith("model")]:
        del sys.modules[name]
    importlib.invalidate_caches()

def imported(folder):
    forgotten()
    sys.path.insert(0, folder)
    try:
        return importlib.import_module("model").works()
    finally:
        sys.path.remove(folder)

def zipped():
    with zipfile.ZipFile("packed.zip", "w") as packed:
        for path in pathlib.Path().glob("model*.py"):
            packed.write(path)
    return imported("packed.zip")

def without_source():
    pathlib.Path("compiled").mkdir(exist_ok=True)
    for path in pathlib.Path().glob("model*.py"):
        py_compile.compile(str(path), f"compiled/{path.stem}.pyc")
    return imported("compiled")

def reloaded():
    import model
    return importlib.reload(importlib.reload(model)).works()

WAYS = {
    "import": lambda: imported("."),
    "reload": reloaded,
    "path": lambda: runpy.run_path("model.py")["works"](),
    "path as main": lambda: runpy.run_path("model.py", run_name="__main__")["works"](),
    "module": lambda: runpy.run_module("model")["works"](),
    "plugin": lambda: plugin("my-plugin.v2", True),
    "keyword": lambda: plugin("class", True),
    "unknown plugin": lambda: plugin("plugins.my plugin", False),
    "exec": lambda: executed({"__name__": "a module", "__file__": "model.py"}),
    "exec as main": lambda: executed({"__name__": "__main__", "__file__": "model.py"}),
    "optimised": lambda: executed({"__name__": "model_oo", "__file__": "model.py"}, 2),
    "zip": zipped,
    "no source": without_source,
}
for name, way in WAYS.items():
    try:
        print(f"{name}: {way()}")
    except Exception as error:
        print(f"{name}: {type(error).__name__}: {error}".replace(chr(10), " "))
"""


def environment(**others: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(qten_gen.__file__).parent.parent), **others}


@pytest.mark.parametrize("mode", ["memory", "generated", "off"])
def test_a_module_works_however_it_is_executed(project: Any, mode: str) -> None:
    project.write(model=DECLARATIONS, ways=IN_ONE_PROCESS)
    if mode != "memory":
        project.generate()
    ways = environment(QTEN_GEN_JIT="off" if mode == "off" else "on")
    done = fresh_process.run("-W", "error", "ways.py", cwd=project.root, env=ways)
    results = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    expected = dict.fromkeys(results, "right")
    assert (results, done.stderr) == (expected, "")
