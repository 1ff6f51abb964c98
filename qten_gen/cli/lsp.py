"""The command `qten-gen lsp`, which starts the language server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import cache
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, TextIO

from .. import __version__
from ..tools.lsp.capabilities import Generated
from ..tools.lsp.server import serve
from . import DONE
from .answering import answering

if TYPE_CHECKING:
    from ..run.memory import Memory


def lsp(main: Callable[..., int]) -> int:
    """Serve an editor until it says that it has finished, and return the exit status.

    Meanwhile, `main` carries out other commands for the project of the working folder (see `answering`).
    """
    root = _root()

    def carry_out(arguments: Sequence[str], out: TextIO, err: TextIO) -> int:
        return main(arguments, out, err, _memory())

    with nullcontext() if root is None else answering(root, carry_out, Lock()):
        serve(__version__, _generate)
    return DONE


@cache
def _memory() -> Memory:
    """The memory that the answers share. It is made for the first one: an editor may want none."""
    from ..run.memory import Memory

    return Memory()


def _root() -> str | None:
    """The folder with the settings of the project; None if there are none, or none that can be used."""
    from ..project.config import ConfigError, Settings

    try:
        return Settings().of(".").root
    except ConfigError:
        return None


def _generate(path: str) -> Generated:
    """Write the generated files of the project that a file belongs to, as the command without paths does."""
    from ..project.config import ConfigError, Settings, source_paths
    from ..project.files import PathError
    from ..run.run import run
    from .summary import summary

    started = perf_counter()
    settings = Settings()
    try:
        config = settings.of(path)
        outcome = run(source_paths(config) or [config.root or path], settings)
    except ConfigError as error:
        return Generated(f"{error.diagnostic.path}: {error.diagnostic.message}", True)
    except PathError as error:
        return Generated(str(error), True)
    texts = [summary(outcome, "write", perf_counter() - started)]
    texts += [f"{failure.path}: {failure.problem}" for failure in outcome.failures]
    texts += [f"a bug in qten-gen: {crash.stage} {crash.path}\n{crash.traceback}" for crash in outcome.crashes]
    return Generated("\n".join(texts), bool(outcome.failures or outcome.crashes))
