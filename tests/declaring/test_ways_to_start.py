"""What works in a module works however people start it: as a script or a plugin, out of a zip file, without its source."""

from typing import Any

import pytest

from tests import fresh_process
from tests.fresh_process import environment

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
    def measure(self) -> int: ...


class Line(TensorClass):
    """Refers to a class that stands further down."""

    start: Point
    parent: Line | None = None


class Point(TensorClass, Sized):
    x: Tensor
    mode: Mode = Mode.fast

    def measure(self) -> int:
        return self.x.numel()


class Net(Module):
    width: int
    mode: Mode = Mode.fast
    price: Decimal | None = None
    weight: nn.Parameter = param("width", initializer=nn.init.ones_)

    def forward(self, x):
        return x * self.weight


def works() -> str:
    point = Point(torch.ones(2), batch_size=2)
    line = Line(point, Line(point, batch_size=2), batch_size=2)[0]
    found = [line.start.batch_size, line.parent.start.batch_size, point.measure(), Net(2)(point.x).tolist()]
    right = found == [(), (), 2, [1.0, 1.0]]
    return "right" if right and type(line.start) is Point else f"wrong: {found}"
'''

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


RECEIVED = """
import pickle, sys
with open("sent.pkl", "rb") as file:
    work, batch, net = pickle.load(file)
print(work(batch, net, "compile" in sys.argv))
assert "qten_gen.generate.outputs" not in sys.modules
"""

SCRIPT = (
    DECLARATIONS
    + """
from collections.abc import Mapping

@Net.register(Line)
def of_line(net: Net, line: Line) -> str:
    return "line"

@Net.register(Mapping)
def of_mapping(net: Net, mapping: Mapping) -> str:
    return "mapping"

def work(line: Line, net: Net, compiles: bool) -> object:
    from torch.utils import _pytree
    stacked = torch.func.vmap(lambda item: item)(torch.stack([line, line]))
    build = lambda line: Line(line.start, line, batch_size=2)
    built = torch.compile(build, backend="eager", fullgraph=True)(line) if compiles else build(line)
    again = [type(made) is Line for made in (stacked, line.clone(), line[0], built)]
    handled = net(line), net({}), Net(2)(line)
    return again, handled, len(_pytree.tree_leaves(line)), net(line.start.x).tolist(), Point.__slots__, Line.__mro__[1].__name__


if __name__ == "__main__":
    import sys
    import cloudpickle
    line = Line(Point(torch.ones(2), batch_size=2), batch_size=2)
    with open("sent.pkl", "wb") as file:
        cloudpickle.dump((work, line, Net(2)), file)
    print(works())
    print(work(line, Net(2), False))
"""
)


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


@pytest.mark.parametrize(
    ("mode", "arguments", "others"),
    [("memory", ["script.py"], ["compile"]), ("off", ["-m", "script"], [])],
    ids=["memory", "off"],
)
def test_classes_of_a_script_reach_other_processes_through_cloudpickle(
    project: Any, mode: str, arguments: list[str], others: list[str]
) -> None:
    project.write(script=SCRIPT, received=RECEIVED)
    if mode == "off":
        project.generate()
    sending = environment(QTEN_GEN_JIT="off" if mode == "off" else "on")
    sent = fresh_process.run("-W", "error", *arguments, cwd=project.root, env=sending)
    works, result = sent.stdout.splitlines()
    assert (works, sent.stderr) == ("right", "")
    received = fresh_process.run("received.py", *others, cwd=project.root, env=environment(QTEN_GEN_JIT="off"))
    assert (received.stdout, received.stderr) == (f"{result}\n", "")
