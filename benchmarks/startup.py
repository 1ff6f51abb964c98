"""What the command and the import cost on top of what anybody pays.

Whole processes: `qten-gen --version` and a run over an unchanged tree against a bare interpreter, `import qten_gen` with its
runtime against `import torch`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from .timing import Row, interleaved, table, time_call, write_json

DECLARATION = """\
from torch import Tensor

from qten_gen import TensorClass


class Batch{number}(TensorClass):
    tokens: Tensor
    mask: Tensor | None = None
    source: str = "train"
"""

RUNTIME = "from qten_gen import Module, TensorClass, buffer, field, param, submodule, virtual"


def process(arguments: Sequence[str], folder: Path) -> Callable[[], float]:
    """A measurement of one run of a command in `folder`.

    Raises `CalledProcessError` with the first run where the command fails.
    """

    # With compiled modules, as an installed package has them, whatever the surroundings say.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def run() -> None:
        subprocess.run(arguments, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)

    run()
    return lambda: time_call(run)


def write_tree(folder: Path, files: int) -> None:
    """A project of `files` declaring files."""
    (folder / "pyproject.toml").write_text("[tool.qten-gen]\n", encoding="utf-8")
    package = folder / "package"
    package.mkdir()
    (package / "__init__.py").touch()
    for number in range(files):
        (package / f"model{number}.py").write_text(DECLARATION.format(number=number), encoding="utf-8")


def rows(folder: Path, files: int, rounds: int) -> list[Row]:
    """All comparisons. The tree in `folder` is generated before anything is timed."""
    write_tree(folder, files)
    command = str(Path(sys.executable).with_name("qten-gen"))
    subprocess.run([command, "package"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    python = [sys.executable, "-c"]
    torch = "import torch"
    comparisons = [
        ("qten-gen --version", [command, "--version"], [*python, "pass"], 40, rounds),
        (f"qten-gen, {files} unchanged files", [command, "package"], [*python, "pass"], 60, rounds),
        ("import of the runtime", [*python, f"{torch}; {RUNTIME}"], [*python, torch], 40, max(3, rounds // 3)),
    ]
    return [
        Row(name, interleaved({"this": process(this, folder), "bare": process(bare, folder)}, turns), f"{limit} ms")
        for name, this, bare, limit, turns in comparisons
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.startup", description=__doc__)
    parser.add_argument("--files", type=int, default=200, help="declaring files in the unchanged tree")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the times there as well")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measured = rows(Path(folder), options.files, options.rounds)
    print(table(measured, lambda this, bare: f"{1000 * (this - bare):+.1f} ms", "over"))
    if options.json:
        write_json(options.json, measured)


if __name__ == "__main__":
    main()
