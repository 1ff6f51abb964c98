"""How long the command takes over whole projects: unchanged, edited, generated from nothing, and checked without a cache.

Each row makes a project in a temporary folder, once with files that do not import each other and once with connected ones, and
runs `python -m qten_gen` as a whole process with compiled modules. `bare` is an interpreter that does nothing, and `walk` one
that lists the files of the project with their status. Runs after an edit are measured in seconds of the processor. With
`--against`, another checkout runs over a copy of the project, in turn.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path

from .timing import Row, interleaved, spell, table, time_call, write_json

HEAD = "from torch import Tensor\n\nfrom qten_gen import TensorClass\n\n\n"
BODY = '    tokens: Tensor\n    mask: Tensor | None = None\n    source: str = "train"\n'
METHODS = "".join(
    f"\n    def total{number}(self) -> Tensor:\n        found = self.tokens\n        for step in range({number}):\n"
    "            found = found + step\n        return found\n"
    for number in range(8)
)
PLAIN = "import os\n\n\ndef entry(name: str) -> str:\n    return os.path.join(name, 'entry')\n"

WALK = """\
import os, sys
def walk(folder):
    with os.scandir(folder) as found:
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                walk(entry.path)
            else:
                entry.stat()
walk(sys.argv[1])
"""

MEMORY = """\
import resource, sys
sys.argv = ["qten-gen", *sys.argv[1:]]
from qten_gen.cli.command import main
status = main()
print("peak", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""

PACKAGE = "package"
Tree = dict[str, str]


def unconnected(files: int, plain: int = 0) -> Tree:
    """A package of `files` files that declare something, and `plain` ones that do not, in folders of a hundred."""
    tree = {"__init__.py": ""}
    for number in range(files + plain):
        folder = f"part{number // 100}"
        tree[f"{folder}/__init__.py"] = ""
        declares = f"{HEAD}class Batch{number}(TensorClass):\n{BODY}{METHODS}"
        tree[f"{folder}/model{number}.py"] = declares if number < files else PLAIN
    return tree


def star(children: int) -> Tree:
    """A base and its children, each in a file of its own."""
    tree = {"__init__.py": "", "base.py": f"{HEAD}class Base(TensorClass):\n{BODY}{METHODS}"}
    for number in range(children):
        head = "from torch import Tensor\n\nfrom .base import Base\n\n\n"
        tree[f"model{number}.py"] = f"{head}class Batch{number}(Base):\n    own: Tensor | None = None\n{METHODS}"
    return tree


def chain(length: int) -> Tree:
    """Classes that each derive from the one of the file before."""
    tree = {"__init__.py": "", "model0.py": f"{HEAD}class Batch0(TensorClass):\n    field0: Tensor\n"}
    for number in range(1, length):
        head = f"from torch import Tensor\n\nfrom .model{number - 1} import Batch{number - 1}\n\n\n"
        tree[f"model{number}.py"] = f"{head}class Batch{number}(Batch{number - 1}):\n    field{number}: Tensor\n"
    return tree


def tower(height: int) -> Tree:
    """Classes of one file that each derive from the one above."""
    classes = "\n\n".join(
        f"class Batch{number}({f'Batch{number - 1}' if number else 'TensorClass'}):\n    field{number}: Tensor\n"
        for number in range(height)
    )
    return {"__init__.py": "", "model.py": HEAD + classes}


@dataclass(frozen=True, slots=True)
class Column:
    """A checkout of the generator, and a folder of its own with the project."""

    name: str
    checkout: Path
    folder: Path

    @property
    def package(self) -> Path:
        return self.folder / PACKAGE

    def run(self, *arguments: str, status: int = 0) -> str:
        """Run the command in the folder of the project, and return what it prints last.

        Raises:
            RuntimeError: It ends with another status.
        """
        return self._process(["-m", "qten_gen", *arguments], status)

    def peak(self, *arguments: str) -> float:
        """The greatest memory of a run, in MB."""
        return int(self._process(["-c", MEMORY, *arguments], 0).rpartition("peak ")[2]) / 1024

    def _process(self, arguments: Sequence[str], status: int) -> str:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPATH"] = str(self.checkout)
        ended = subprocess.run(
            [sys.executable, *arguments], cwd=self.folder, env=environment, capture_output=True, text=True
        )
        if ended.returncode != status:
            raise RuntimeError(f"{self.name} ended with {ended.returncode}: {ended.stdout}{ended.stderr}")
        return ended.stdout + ended.stderr

    def write(self, tree: Tree, settings: bool = True) -> None:
        """Write the project anew, with a `pyproject.toml` or without one."""
        if settings:
            (self.folder / "pyproject.toml").write_text("[tool.qten-gen]\n", encoding="utf-8")
        for path, text in tree.items():
            (self.package / path).parent.mkdir(parents=True, exist_ok=True)
            (self.package / path).write_text(text, encoding="utf-8")

    def age(self) -> None:
        """Make all files old, as those of a project are that nobody has edited for some seconds."""
        for path in self.folder.rglob("*"):
            if path.is_file() and ".qten_cache" not in path.parts:
                os.utime(path, (1_500_000_000, 1_500_000_000))

    def forget(self) -> None:
        """Remove what earlier runs have remembered."""
        shutil.rmtree(self.folder / ".qten_cache", ignore_errors=True)

    def clean(self) -> None:
        """Remove the cache and all outputs."""
        self.forget()
        for path in [*self.package.rglob("*_qten.py"), *self.package.rglob("*_qten.pyi")]:
            path.unlink()


def processor_time(call: Callable[[], object]) -> float:
    """The seconds of a processor that the processes take which a call starts and waits for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    call()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@dataclass(frozen=True, slots=True)
class Bench:
    """The columns to compare, and how often each measurement is repeated."""

    columns: tuple[Column, ...]
    rounds: int

    def settle(self, tree: Tree, settings: bool = True) -> None:
        """Write the project in each column, and run until nothing is left to do or to remember."""
        for column in self.columns:
            column.write(tree, settings)
            column.run(PACKAGE)
            column.age()
        time.sleep(2.1)  # what has just changed is not remembered
        for column in self.columns:
            column.run(PACKAGE)
            column.run(PACKAGE)

    def row(self, name: str, measured: Callable[[Column], float], limit: str, rounds: int | None = None) -> Row:
        columns = {column.name: partial(measured, column) for column in self.columns}
        return Row(name, interleaved(columns, rounds or self.rounds), limit)

    def unchanged(self, name: str, tree: Tree, limit: str, settings: bool = True) -> Row:
        """A run over an unchanged project, beside a bare interpreter and one that lists the files."""
        self.settle(tree, settings)
        folder = str(self.columns[0].folder)
        columns = {column.name: partial(time_call, partial(column.run, PACKAGE)) for column in self.columns}
        for other, program in (("bare", ["-c", "pass"]), ("walk", ["-c", WALK, folder])):
            command = [sys.executable, *program]
            columns[other] = partial(time_call, partial(subprocess.run, command, cwd=folder, check=True))
        return Row(name, interleaved(columns, self.rounds), limit)

    def edited(
        self,
        name: str,
        path: str,
        edit: Callable[[str, int], str],
        limit: str,
        rounds: int | None = None,
    ) -> Row:
        """The processor's time of a run after an edit of one file, which differs in each round."""
        numbers = count()

        def measured(column: Column) -> float:
            target = column.package / path
            before = target.read_text(encoding="utf-8")
            target.write_text(edit(before, next(numbers)), encoding="utf-8")
            seconds = processor_time(partial(column.run, PACKAGE))
            target.write_text(before, encoding="utf-8")
            column.run(PACKAGE)
            return seconds

        return self.row(name, measured, limit, rounds)


def comment(text: str, number: int) -> str:
    return f"# comment {number}\n{text}"


def body(text: str, number: int) -> str:
    return text.replace("found = self.tokens\n", f"found = self.tokens + {number}\n")


def field(text: str, number: int) -> str:
    """The text with one more field, below the first one that has a default, or at the end."""
    head, default, rest = text.partition(" = None\n")
    return f"{head}{default}    added{number}: Tensor | None = None\n{rest}"


def unrelated(text: str, number: int) -> str:
    """The text with one more class, which no other uses."""
    return f"{text}\n\nclass Unrelated{number}(TensorClass):\n    own: Tensor\n"


def cold(column: Column, files: int) -> float:
    """Seconds for one file of a run that generates all."""
    column.clean()
    return time_call(partial(column.run, PACKAGE)) / files


def checked(column: Column) -> float:
    """Seconds of `--check` over good outputs without a cache."""
    column.forget()
    return time_call(partial(column.run, "--check", PACKAGE))


def rows(make: Callable[[], Bench], scale: float) -> Iterator[Row]:
    """All rows. Each project stands in folders of its own; `scale` makes them smaller."""

    def sized(number: int) -> int:
        return max(2, round(number * scale))

    thousand, children, length = sized(1000), sized(500), sized(300)
    bench = make()
    yield bench.unchanged(f"{sized(20)} declaring files, unchanged", unconnected(sized(20)), "55 ms")
    yield bench.edited("  a comment", "part0/model1.py", comment, "100 ms")
    yield bench.edited("  a field added", "part0/model1.py", field, "170 ms")
    bench = make()
    yield bench.unchanged(f"{thousand} declaring files, unchanged", unconnected(thousand), "55 ms")
    yield bench.edited("  a comment", "part0/model1.py", comment, "150 ms")
    yield bench.edited("  the body of a function edited", "part0/model1.py", body, "150 ms")
    yield bench.edited("  a field added", "part0/model1.py", field, "220 ms")
    yield bench.row("  --check without a cache", checked, "4 s", 2)
    yield bench.row("  generated from nothing, one file", partial(cold, files=thousand), "5 ms", 2)
    bench = make()
    yield bench.unchanged(
        f"{thousand} declaring files without a pyproject.toml, unchanged",
        unconnected(thousand),
        "55 ms",
        settings=False,
    )
    bench = make()
    yield bench.unchanged(
        f"{10 * thousand} files, a tenth declaring, unchanged", unconnected(thousand, 9 * thousand), "120 ms"
    )
    bench = make()
    yield bench.unchanged(f"a base and {children} children, unchanged", star(children), "55 ms")
    yield bench.edited("  a comment in a child", "model1.py", comment, "400 ms")
    yield bench.edited("  a comment in the base", "base.py", comment, "300 ms")
    yield bench.edited("  an unrelated class beside the base", "base.py", unrelated, "300 ms", 3)
    yield bench.edited("  a field of a child added", "model1.py", field, "400 ms")
    yield bench.edited("  a field of the base added", "base.py", field, "2 s", 2)
    bench = make()
    for column in bench.columns:
        column.write(chain(length))
    yield bench.row(f"a chain of {length} classes in files, one file", partial(cold, files=length), "", 1)
    yield bench.edited("  a field of the last added", f"model{length - 1}.py", field, "", 1)
    bench = make()
    for column in bench.columns:
        column.write(tower(length))
    yield bench.row(f"a chain of {length} classes in one file", partial(cold, files=1), "", 1)


def memory(make: Callable[[], Bench], files: int) -> str:
    """The memory of a run that generates all."""
    bench = make()
    lines = []
    for column in bench.columns:
        column.write(unconnected(files))
        lines.append(f"{column.name} {column.peak(PACKAGE):.0f} MB")
    return f"memory, {files} files generated from nothing: {', '.join(lines)} (limit 150 MB)"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.generator", description=__doc__)
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="another checkout to compare with")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument(
        "--scale", type=float, default=1.0, help="the sizes of the projects, as a part of the full ones"
    )
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the times there as well")
    options = parser.parse_args()
    checkouts = {"this": Path(__file__).resolve().parents[1]}
    if options.against:
        checkouts["against"] = options.against.resolve()
    with tempfile.TemporaryDirectory() as name:
        numbers = count()

        def make() -> Bench:
            folders = [(column, checkout, Path(name) / f"{next(numbers)}") for column, checkout in checkouts.items()]
            for _, _, folder in folders:
                folder.mkdir()
            return Bench(tuple(Column(*found) for found in folders), options.rounds)

        measured = []
        for row in rows(make, options.scale):
            measured.append(row)
            print(
                row.name,
                *(f"{column} {spell(seconds)}" for column, seconds in row.seconds.items()),
                sep="  ",
                flush=True,
            )
        print(memory(make, max(2, round(1000 * options.scale))))
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(table(measured, lambda this, other: f"{this / other:.2f}", "by"))
    if options.json:
        write_json(options.json, measured)


if __name__ == "__main__":
    main()
