"""Notebooks that run in IPython: each in a fork of one process, which has imported IPython and the package once."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from textwrap import dedent
from typing import Any

from tests import fresh_process


@dataclass(frozen=True)
class Kernel:
    """The process that runs notebooks."""

    connection: Any

    def run(self, folder: Path, *cells: str) -> list[str]:
        """What the cells print, and the errors that they raise, one line each; warnings come last."""
        self.connection.send((str(folder), [f"{dedent(cell).strip()}\n" for cell in cells]))
        self.connection.recv()
        printed = (folder / "stdout.txt").read_text(encoding="utf-8") + (folder / "stderr.txt").read_text(
            encoding="utf-8"
        )
        return [line for line in re.sub(r"\x1b\[[0-9;]*m", "", printed).splitlines() if line.strip()]


@contextmanager
def kernel() -> Iterator[Kernel]:
    """A process for notebooks, which ends with the block."""
    context = fresh_process.with_torch()
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,))
    process.start()
    theirs.close()
    try:
        yield Kernel(ours)
    finally:
        ours.close()
        process.join()


def _serve(connection: Connection[Any, Any]) -> None:
    """Run notebooks in forks until the connection is closed."""

    import qten_gen

    # What generates classes in memory is imported by the first class.
    class Warm(qten_gen.TensorClass):
        x: int

    while True:
        try:
            folder, cells = connection.recv()
        except EOFError:
            return
        child = os.fork()
        if child == 0:
            _be_notebook(folder, cells)
        os.waitpid(child, 0)
        connection.send(True)


def _be_notebook(folder: str, cells: list[str]) -> None:
    """Run cells in this process, and end it."""
    os.chdir(folder)
    for number, name in ((1, "stdout.txt"), (2, "stderr.txt")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.stdout, sys.stderr = (open(number, "w", encoding="utf-8", buffering=1, closefd=False) for number in (1, 2))  # noqa: SIM115
    os.environ.update(HOME=folder, IPYTHONDIR=f"{folder}/ipython")
    sys.path.insert(0, folder)
    from IPython.core.interactiveshell import InteractiveShell

    shell: Any = InteractiveShell.instance()
    sys.modules["__main__"] = shell.user_module
    status = 0
    for cell in cells:
        found = shell.run_cell(cell)
        if not found.success:
            error = found.error_in_exec or found.error_before_exec
            print(f"raised {type(error).__name__}: {error}")
    sys.stdout.flush()
    os._exit(status)
