"""The process of the command `qten-gen`. It imports no other file at the top: Ctrl-C is answered while the command loads, too."""

import gc
import sys

_MANY = 200_000
"""A run over a small project makes fewer objects, so nothing looks for garbage among what it imports."""


def main() -> int:
    """Run the command with the arguments of the process, and end the process with its exit status, or return that."""
    gc.set_threshold(_MANY)
    try:
        from .command import main as command

        status = command()
        if "torch" not in sys.modules:
            _end(status)
    except KeyboardInterrupt:
        return 130
    finally:
        gc.freeze()  # the process ends: looking for garbage among all that it holds would take a tenth of a short run
    return status


def _end(status: int) -> None:
    """End the process without taking apart what it holds, which takes a tenth of a short run, unless something measures it.

    What is registered to run at the end runs, such as that of a coverage which Python starts by itself.
    """
    import atexit
    import os

    if not _is_measured():
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:  # a process may be started without one
                stream.flush()
        os._exit(status)


def _is_measured() -> bool:
    """True if a profiler, coverage or debugger follows the run, which writes what it found at a regular end."""
    if sys.gettrace() is not None or sys.getprofile() is not None:
        return True
    monitoring = getattr(sys, "monitoring", None)  # from Python 3.12 on, cProfile and coverage use it
    return monitoring is not None and any(monitoring.get_tool(number) is not None for number in range(6))
