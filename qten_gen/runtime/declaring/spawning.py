"""Worker processes that start a new interpreter, which cannot import what a notebook declares."""

from __future__ import annotations

import sys
from multiprocessing.context import get_spawning_popen
from pickle import PicklingError


def refuse_for_new_interpreters(cls: type) -> None:
    """Refuse to send an object of a class of a notebook to a process that is being started by `spawn` or `forkserver`.

    The process would end with an error of its own, of which a DataLoader shows only that a worker is gone.

    Raises:
        PicklingError: the class was declared in a notebook or at a prompt.
    """
    # The file of a script is executed again in the worker.
    if cls.__module__ != "__main__" or get_spawning_popen() is None or hasattr(sys.modules["__main__"], "__file__"):
        return
    raise PicklingError(
        f"{cls.__qualname__} is declared in a notebook or at a prompt, where a worker process cannot import it: move the class to"
        " a file and import it from there, pass multiprocessing_context='fork' where the system has it, or use num_workers=0"
    )
