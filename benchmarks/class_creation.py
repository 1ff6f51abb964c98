"""What a class statement of three fields costs: rendered in memory, joined with a generated file, and for tensordict's class.

Each statement stands in a module of its own, as in a program, and the generated module is imported before the clock runs. The
first class of a process pays for the imports of the generator or of what compares with it, and is left out. A second row is
measured after torch.compile was imported, as tensordict imports it: primitives are compiled in the class statement then, and
otherwise when an object first needs them.
"""

from __future__ import annotations

import argparse
import importlib
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from types import ModuleType

from .timing import Row, interleaved, table, write_json

CLASSES = 40
"""One of them is made in each round."""

DECLARATION = """\
from torch import Tensor
from {package} import TensorClass

class Batch(TensorClass):
    q: Tensor
    k: Tensor
    v: Tensor
"""


def write(folder: Path, prefix: str, package: str) -> list[str]:
    """Modules with one class each."""
    names = [f"{prefix}{number}" for number in range(CLASSES)]
    for name in names:
        (folder / f"{name}.py").write_text(DECLARATION.format(package=package), encoding="utf-8")
    return names


def creation(folder: Path, names: list[str], *, generated: bool) -> Callable[[], float]:
    """A measurement that executes the next module, and returns how long that took."""
    waiting = iter(names)

    def measure() -> float:
        name = next(waiting)
        if generated:
            importlib.import_module(f"{name}_qten")
        module = ModuleType(name)
        module.__file__ = str(folder / f"{name}.py")
        code = compile(Path(module.__file__).read_text(encoding="utf-8"), module.__file__, "exec")
        sys.modules[name] = module
        started = perf_counter()
        exec(code, vars(module))
        return perf_counter() - started

    return measure


def compare(folder: Path) -> list[Row]:
    """The least time of each kind of class, before torch.compile is imported and after."""
    generated = write(folder, "generated", "qten_gen")
    (folder / "pyproject.toml").write_text("[tool.qten-gen]\n", encoding="utf-8")
    files = [f"{name}.py" for name in generated]
    subprocess.run([sys.executable, "-m", "qten_gen", *files], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    sys.path.insert(0, str(folder))
    columns = {
        "generated file": creation(folder, generated, generated=True),
        "in memory": creation(folder, write(folder, "in_memory", "qten_gen"), generated=False),
    }
    for measure in columns.values():
        measure()
    first = Row("class of three fields", interleaved(columns, CLASSES // 2), "0.6 ms, 3 ms")
    importlib.import_module("torch._dynamo")
    if find_spec("tensordict") is not None:
        columns["tensordict"] = creation(folder, write(folder, "peer", "tensordict"), generated=False)
        columns["tensordict"]()
    # The columns of the table are those of its first row.
    return [Row("after torch.compile is imported", interleaved(columns, CLASSES // 2 - 1), "1 ms, 3 ms"), first]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.class_creation", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the times there as well")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = compare(Path(folder))
    print(table(rows, lambda ours, other: f"{ours / other:.2f}", "/"))
    if options.json:
        write_json(options.json, rows)


if __name__ == "__main__":
    main()
