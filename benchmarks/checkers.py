"""How long type checkers take over declared classes: a small and a larger project, and a program that uses every class.

    python -m benchmarks.checkers

Each checker runs over all files of a project, as one does in CI: the declaring files, seven classes in each, and the program. A
second project has as many plain dataclasses and nn.Modules, written by hand. What either costs is the time above a program that
imports torch and qten_gen alone. What a small project costs is mostly what qten_gen's own files do.

mypy has those two libraries in its cache, as it has in every run but the first. It runs with classes that it has not seen, then
after the program was edited, then with nothing changed. The others keep nothing between runs. Times are of the processor, which
other programs on the machine hardly change.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

TENSORCLASSES, MODULES = 4, 3
REPOSITORY = Path(__file__).parents[1]
PATHS = [str(REPOSITORY), str(REPOSITORY / "stubs")]
ENVIRONMENT = {
    **dict.fromkeys(("MYPYPATH", "PYTHONPATH"), os.pathsep.join(PATHS)),
    # Threads that wait for each other take time of the processor too.
    **dict.fromkeys(("PYREFLY_THREADS", "TY_MAX_PARALLELISM"), "1"),
}
ALONE = "import torch\n\nimport qten_gen\n\nprint(torch.ones(2), qten_gen.TensorClass)\n"
PROGRAMS = {"alone.py": "", "plain_use.py": "plain", "use.py": "made"}
"""The libraries alone, with plain classes, and with declared ones; each with the package that it imports."""


def declarations(number: int) -> str:
    """One file: TensorClasses that hold each other, and Modules with children and a handler."""
    lines = ["from torch import Tensor, nn", "from qten_gen import Module, TensorClass, param, submodule", ""]
    for index in range(TENSORCLASSES):
        lines += [f"class Batch{number}x{index}(TensorClass):", "    tokens: Tensor", "    mask: Tensor | None = None"]
        lines += ['    source: str = "train"']
        lines += [f"    inner: Batch{number}x{index - 1} | None = None"] if index else []
        lines += [f"    def doubled(self) -> 'Batch{number}x{index}':", "        return self + self", ""]
    for index in range(MODULES):
        lines += [f"class Layer{number}x{index}(Module):", "    width: int", "    heads: int = 2"]
        lines += ['    weight: nn.Parameter = param("width", "width", initializer=nn.init.ones_)']
        lines += ['    norm: nn.LayerNorm = submodule(nn.LayerNorm, "width")']
        lines += (
            [f'    below: Layer{number}x{index - 1} = submodule(Layer{number}x{index - 1}, "width")'] if index else []
        )
        lines += ["    def forward(self, x: Tensor) -> Tensor:", "        return x @ self.weight", ""]
    lines += [f"@Layer{number}x0.register(Batch{number}x0)"]
    lines += [
        f"def handle(layer: Layer{number}x0, batch: Batch{number}x0) -> Tensor:",
        "    return layer(batch.tokens)",
        "",
    ]
    return "\n".join(lines)


def use(files: int) -> str:
    """A program that uses every class."""
    lines = [ALONE]
    for number in range(files):
        batches = [f"Batch{number}x{index}" for index in range(TENSORCLASSES)]
        layers = [f"Layer{number}x{index}" for index in range(MODULES)]
        lines.append(f"from made.part{number} import {', '.join([*batches, *layers])}")
        for name in batches:
            lines.append(f"def f{name}(batch: {name}) -> {name}:")
            lines.append('    print(batch.tokens, batch.mask, batch.to("cpu").doubled()[0])')
            lines.append("    return batch.replace(mask=batch.tokens)")
        for name in layers:
            lines.append(f"def f{name}(layer: {name}, x: torch.Tensor) -> torch.Tensor:")
            lines.append('    print(layer.state_dict()["weight"], layer.get_config()["heads"])')
            lines.append("    return layer(x)")
    return "\n".join(lines) + "\n"


def plain_declarations(number: int) -> str:
    """The fields of `declarations` in dataclasses and nn.Modules, with those of the methods that `plain_use` calls."""
    lines = ["from __future__ import annotations", "from dataclasses import dataclass", "import torch"]
    lines += ["from torch import Tensor, nn", ""]
    for index in range(TENSORCLASSES):
        name = f"Plain{number}x{index}"
        lines += ["@dataclass", f"class {name}:", "    tokens: Tensor", "    mask: Tensor | None = None"]
        lines += ['    source: str = "train"']
        lines += [f"    inner: Plain{number}x{index - 1} | None = None"] if index else []
        for signature, change in (
            ("doubled(self)", "{} * 2"),
            ("to(self, device: str)", "{}.to(device)"),
            ("__getitem__(self, index: int)", "{}[index]"),
        ):
            mask = f"None if self.mask is None else {change.format('self.mask')}"
            values = [change.format("self.tokens"), mask, "self.source"]
            nested = change.format("self.inner") if "*" not in change else "self.inner.doubled()"
            values += [f"None if self.inner is None else {nested}"] if index else []
            lines += [f"    def {signature} -> {name}:", f"        return {name}({', '.join(values)})"]
        lines.append("")
    for index in range(MODULES):
        lines += [
            f"class Linear{number}x{index}(nn.Module):",
            "    def __init__(self, width: int, heads: int = 2) -> None:",
        ]
        lines += ["        super().__init__()", "        self.width, self.heads = width, heads"]
        lines += [
            "        self.weight = nn.Parameter(torch.ones(width, width))",
            "        self.norm = nn.LayerNorm(width)",
        ]
        lines += [f"        self.below = Linear{number}x{index - 1}(width)"] if index else []
        lines += ["    def forward(self, x: Tensor) -> Tensor:", "        return x @ self.weight"]
        lines += [
            "    def get_config(self) -> dict[str, int]:",
            '        return {"width": self.width, "heads": self.heads}',
            "",
        ]
    return "\n".join(lines)


def plain_use(files: int) -> str:
    """What `use` does, as far as plain classes can."""
    lines = [ALONE, "from dataclasses import replace"]
    for number in range(files):
        batches = [f"Plain{number}x{index}" for index in range(TENSORCLASSES)]
        layers = [f"Linear{number}x{index}" for index in range(MODULES)]
        lines.append(f"from plain.part{number} import {', '.join([*batches, *layers])}")
        for name in batches:
            lines.append(f"def f{name}(batch: {name}) -> {name}:")
            lines.append('    print(batch.tokens, batch.mask, batch.to("cpu").doubled()[0])')
            lines.append("    return replace(batch, mask=batch.tokens)")
        for name in layers:
            lines.append(f"def f{name}(layer: {name}, x: torch.Tensor) -> torch.Tensor:")
            lines.append('    print(layer.state_dict()["weight"], layer.get_config()["heads"])')
            lines += ["    result: torch.Tensor = layer(x)", "    return result"]
    return "\n".join(lines) + "\n"


def seconds(commands: list[list[str]], folder: Path, rounds: int, prepare: Callable[[str], None]) -> list[float]:
    """The least time of the processor that each command takes, which checks the program that it ends with and reports nothing.

    Each round runs all of them, one after the other, so that whatever else keeps the machine busy slows them alike.
    """
    times: list[list[float]] = [[] for _ in commands]
    for _ in range(rounds):
        for program, command, taken in zip(PROGRAMS, commands, times, strict=True):
            prepare(program)
            start = _used()
            done = subprocess.run(command, cwd=folder, env=os.environ | ENVIRONMENT, capture_output=True, text=True)
            taken.append(_used() - start)
            if done.returncode:
                raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return [min(taken) for taken in times]


def _used() -> float:
    """Seconds of the processor that finished child processes took."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(folder: Path, files: int, rounds: int) -> Iterator[tuple[str, list[float]]]:
    """For each checker, and each state of its cache: the times of `PROGRAMS`."""
    write_programs(folder, files)
    python, tools = sys.executable, Path(sys.executable).parent
    warm = folder / "warm"
    mypy = [python, "-m", "mypy", "--strict", "--config-file="]
    subprocess.run(
        [*mypy, f"--cache-dir={warm}", "alone.py"],
        cwd=folder,
        env=os.environ | ENVIRONMENT,
        check=True,
        capture_output=True,
    )
    checked = {
        name: [*(f"{package}/part{number}.py" for number in range(files if package else 0)), name]
        for name, package in PROGRAMS.items()
    }
    cached = [[*mypy, f"--cache-dir={name}.cache", *paths] for name, paths in checked.items()]
    yield "mypy, new classes", seconds(cached, folder, rounds, partial(_forget, warm, folder))
    yield "mypy, program edited", seconds(cached, folder, rounds, lambda name: _edit(folder / name))
    yield "mypy, nothing changed", seconds(cached, folder, rounds, lambda name: None)

    for name, paths in checked.items():
        settings = {"include": paths, "extraPaths": PATHS}
        (folder / f"{name}.json").write_text(json.dumps(settings), encoding="utf-8")
    searched = [f"--search-path={path}" for path in (".", *PATHS)]
    extra = [option for path in (".", *PATHS) for option in ("--extra-search-path", path)]
    for checker, commands in {
        "pyrefly": [
            [f"{tools}/pyrefly", "check", "--preset=default", f"--python-interpreter-path={python}", *searched, *paths]
            for paths in checked.values()
        ],
        "ty": [[f"{tools}/ty", "check", "--python", sys.prefix, *extra, *paths] for paths in checked.values()],
        "pyright": [[python, "-m", "pyright", f"--pythonpath={python}", f"--project={name}.json"] for name in PROGRAMS],
    }.items():
        yield checker, seconds(commands, folder, rounds, lambda name: None)


def write_programs(folder: Path, files: int) -> None:
    """Write the programs, and the packages that they import."""
    for name, write in (("made", declarations), ("plain", plain_declarations)):
        package = folder / name
        package.mkdir()
        (package / "__init__.py").write_text("", encoding="utf-8")
        for number in range(files):
            (package / f"part{number}.py").write_text(write(number), encoding="utf-8")
    (folder / "pyproject.toml").write_text('[tool.qten-gen]\nsrc = ["."]\n', encoding="utf-8")
    generate = [sys.executable, "-m", "qten_gen", "--quiet"]
    subprocess.run(generate, cwd=folder, check=True, env=os.environ | ENVIRONMENT)
    for name, text in zip(PROGRAMS, (ALONE, plain_use(files), use(files)), strict=True):
        (folder / name).write_text(text, encoding="utf-8")


def _forget(warm: Path, folder: Path, name: str) -> None:
    """A cache that knows the libraries only, and a program that it does not know: mypy reads no library for one that it does."""
    cache = folder / f"{name}.cache"
    shutil.rmtree(cache, ignore_errors=True)
    shutil.copytree(warm, cache)
    _edit(folder / name)


def _edit(program: Path) -> None:
    """Change a program as little as makes mypy check it again."""
    program.write_text(f"{program.read_text(encoding='utf-8')}# edited\n", encoding="utf-8")


def main() -> None:
    """Print the times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, nargs="+", default=[7, 60], help="the sizes of the projects")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    for files in given.files:
        print(f"{files} files with {files * (TENSORCLASSES + MODULES)} classes; seconds of the processor")
        heads = ("libraries", "plain", "more", "declared", "more", "times", "whole run")
        print(" " * 22, *(f"{head:>9}" for head in heads))
        with tempfile.TemporaryDirectory() as folder:
            for name, (alone, plain, full) in measure(Path(folder), files, given.rounds):
                more = full - alone, plain - alone
                figures = (alone, plain, more[1], full, more[0], more[0] / more[1], full / plain)
                print(f"{name:22}", *(f"{figure:9.2f}" for figure in figures), flush=True)


if __name__ == "__main__":
    main()
