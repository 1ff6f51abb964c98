"""The process of the command `qten-gen`. It imports no other file at the top: Ctrl-C is answered while the command loads, too."""

import gc
import sys

_MANY = 200_000
"""A run over a small project makes fewer objects, so nothing looks for garbage among what it imports."""


def main() -> int:
    """Run the command with the arguments of the process, and return its exit status or, after a run, end the process with it."""
    gc.set_threshold(_MANY)
    try:
        from .command import main as command

        status = command()
        if "qten_gen.run.run" in sys.modules and "torch" not in sys.modules:
            _end(status)
    except KeyboardInterrupt:
        return 130
    finally:
        gc.freeze()  # the process ends: looking for garbage among all that it holds would take a tenth of a short run
    return status


def _end(status: int) -> None:
    """End the process without taking apart what it holds, which takes a tenth of an edit. Profilers write at a regular end."""
    import os

    if sys.gettrace() is None and sys.getprofile() is None:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
