"""The process of the command `qten-gen`. It imports no other file at the top: Ctrl-C is answered while the command loads, too."""

import gc

_MANY = 200_000
"""A run over a small project makes fewer objects, so nothing looks for garbage among what it imports."""


def main() -> int:
    """Run the command with the arguments of the process, and return its exit status."""
    gc.set_threshold(_MANY)
    try:
        from .command import main as command

        return command()
    except KeyboardInterrupt:
        return 130
    finally:
        gc.freeze()  # the process ends: looking for garbage among all that it holds would take a tenth of a short run
