"""The command, run in a temporary folder with nothing of the surroundings showing through."""

import io
import re
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

from qten_gen.cli.command import main

BATCH = """
from torch import Tensor
from qten_gen import TensorClass

class Batch(TensorClass):
    x: Tensor
"""

BROKEN = """
from torch import Tensor
from qten_gen import TensorClass

class Batch(TensorClass, frozn=True):
    x: Tensor
"""


@dataclass(frozen=True)
class Result:
    """What a run of the command left: its exit status and what it printed."""

    status: int
    out: str
    err: str

    @property
    def summary(self) -> str:
        """The last line of standard output, without the time."""
        return re.sub(r" in \d+\.\d\ds$", "", self.out.splitlines()[-1])


@dataclass(frozen=True)
class Command:
    """`qten-gen` in a folder."""

    folder: Path

    def __call__(self, *arguments: str) -> Result:
        out, err = io.StringIO(), io.StringIO()
        status = main(arguments, out, err)
        return Result(status, out.getvalue(), err.getvalue())

    def write(self, path: str, text: str) -> Path:
        """Write a file, and the folders that lead to it."""
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(dedent(text).lstrip("\n"), encoding="utf-8")
        return target

    def read(self, path: str) -> str:
        """The text of a file."""
        return (self.folder / path).read_text(encoding="utf-8")

    def exists(self, path: str) -> bool:
        """Whether there is a file of that name."""
        return (self.folder / path).exists()

    def times(self) -> dict[str, int]:
        """The modification times of all files outside the cache."""
        return {
            str(path.relative_to(self.folder)): path.stat().st_mtime_ns
            for path in self.folder.rglob("*")
            if path.is_file() and ".qten_cache" not in path.parts
        }
