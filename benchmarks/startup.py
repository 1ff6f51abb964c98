"""What the command and the import cost on top of what anybody pays.

`qten-gen --version` and a run over an unchanged tree, as whole processes, against a bare interpreter; `import qten_gen` with its
runtime against `import torch`; `qten-gen lock --load` of a checkpoint of 10,000 tensors against one of ten.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
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

IMPORTS = """\
from time import perf_counter
started = perf_counter()
import torch
between = perf_counter()
from qten_gen import Module, TensorClass, buffer, field, param, submodule, virtual
print(between - started, perf_counter() - between)
"""


def run(arguments: Sequence[str], folder: Path) -> str:
    """What a command prints that is run in `folder`, with compiled modules, as an installed package has them.

    Raises `CalledProcessError` where the command fails.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run(arguments, cwd=folder, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout


def write_tree(folder: Path, files: int) -> None:
    """A project of `files` declaring files."""
    (folder / "pyproject.toml").write_text("[tool.qten-gen]\n", encoding="utf-8")
    package = folder / "package"
    package.mkdir()
    (package / "__init__.py").touch()
    for number in range(files):
        (package / f"model{number}.py").write_text(DECLARATION.format(number=number), encoding="utf-8")


def compare_processes(name: str, command: Sequence[str], folder: Path, rounds: int, limit: str) -> Row:
    """A command against an interpreter that does nothing."""
    columns = {"this": command, "bare": [sys.executable, "-c", "pass"]}
    run(command, folder)
    measurements = {column: partial(time_call, partial(run, line, folder)) for column, line in columns.items()}
    return Row(name, interleaved(measurements, rounds), limit)


def compare_imports(folder: Path, rounds: int) -> Row:
    """Torch and the runtime against torch alone, in one process: torch's own time varies by more than the runtime takes."""
    program = [sys.executable, "-c", IMPORTS]
    run(program, folder)
    times = [[float(seconds) for seconds in run(program, folder).split()] for _ in range(rounds)]
    torch, runtime = (min(column) for column in zip(*times, strict=True))
    return Row("import of the runtime", {"this": torch + runtime, "bare": torch}, "40 ms")


def write_checkpoint(folder: Path, layers: int) -> None:
    """The header of a checkpoint with ten tensors a layer, and the lock of its model."""
    names = [f"layers.{layer}.weight{number}" for layer in range(layers) for number in range(10)]
    header = json.dumps({name: {"dtype": "BF16", "shape": [64, 64], "data_offsets": [0, 0]} for name in names}).encode()
    (folder / f"{layers}.safetensors").write_bytes(len(header).to_bytes(8, "little") + header)
    lines = (f"layers.{{0-{layers - 1}}}.weight{number}  bfloat16  param  [64, 64]\n" for number in range(10))
    lock = folder / "locks" / f"model.Layers{layers}.lock"
    lock.parent.mkdir(exist_ok=True)
    lock.write_text(f"# lock 1: model:Layers{layers}\nversions  -\n{''.join(lines)}", encoding="utf-8")


def compare_checkpoints(command: str, folder: Path, rounds: int) -> Row:
    """A checkpoint of many tensors against one of few."""
    columns = {"this": 1000, "bare": 1}
    for layers in columns.values():
        write_checkpoint(folder, layers)
    lines = {
        column: [command, "lock", f"model:Layers{layers}", "--load", f"{layers}.safetensors"]
        for column, layers in columns.items()
    }
    measurements = {column: partial(time_call, partial(run, line, folder)) for column, line in lines.items()}
    return Row("qten-gen lock --load, 10,000 tensors", interleaved(measurements, rounds), "20 ms")


def rows(folder: Path, files: int, rounds: int) -> list[Row]:
    """All comparisons. The tree in `folder` is generated before anything is timed."""
    write_tree(folder, files)
    command = str(Path(sys.executable).with_name("qten-gen"))
    run([command, "package"], folder)
    return [
        compare_processes("qten-gen --version", [command, "--version"], folder, rounds, "40 ms"),
        compare_processes(f"qten-gen, {files} unchanged files", [command, "package"], folder, rounds, "60 ms"),
        compare_imports(folder, max(3, rounds // 3)),
        compare_checkpoints(command, folder, rounds),
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
