"""The process of the command `qten-gen`. It imports no other file at the top: Ctrl-C is answered while the command loads, too."""

import gc


def main() -> int:
    """Run the command with the arguments of the process, and return its exit status."""
    try:
        from .command import main as command

        return command()
    except KeyboardInterrupt:
        return 130
    finally:
        gc.freeze()  # the process ends: looking for garbage among all that it holds would take a tenth of a short run
