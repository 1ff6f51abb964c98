"""The command `qten-gen lsp`, which starts the language server."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, TextIO

from .. import __version__
from ..tools.lsp.protocol import Connection, Params, serve
from . import DONE

if TYPE_CHECKING:
    from ..tools.lsp.session import Generated
    from .options import Options


def lsp(options: Options, out: TextIO, err: TextIO) -> int:
    """Serve an editor until it says that it has finished, and return the exit status."""
    serve(__version__, _converse)
    return DONE


def _converse(connection: Connection, start: Params, encoding: str) -> None:
    """Load the generator, which the first request does not wait for, and answer everything else."""
    from ..tools.lsp.session import Session

    Session(connection, start, encoding, _generate).run()


def _generate(path: str) -> Generated:
    """Write the generated files of the project that a file belongs to, as the command without paths does."""
    from ..project.config import ConfigError, config_of, source_paths
    from ..project.files import PathError, project_of
    from ..run.run import run
    from ..tools.lsp.session import Generated
    from .printing import summary

    started = perf_counter()
    try:
        config = config_of(path)
        outcome = run(project_of(source_paths(config) or [config.root]))
    except ConfigError as error:
        return Generated(f"{error.diagnostic.path}: {error.diagnostic.message}", True)
    except PathError as error:
        return Generated(str(error), True)
    texts = [summary(outcome, "write", perf_counter() - started)]
    texts += [f"{failure.path}: {failure.problem}" for failure in outcome.failures]
    texts += [f"a bug in qten-gen: {crash.stage} {crash.path}\n{crash.traceback}" for crash in outcome.crashes]
    return Generated("\n".join(texts), bool(outcome.failures or outcome.crashes))
