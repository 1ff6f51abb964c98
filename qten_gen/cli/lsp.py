"""The command `qten-gen lsp`, which starts the language server."""

from __future__ import annotations

from time import perf_counter

from .. import __version__
from ..tools.lsp.capabilities import Generated
from ..tools.lsp.server import serve
from . import DONE


def lsp() -> int:
    """Serve an editor until it says that it has finished, and return the exit status."""
    serve(__version__, _generate)
    return DONE


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
