"""The entry point of the `qten-gen` command, which returns an exit status.

Imports are late to keep the command fast: `--version` needs `sys` only, and a run over an unchanged tree needs only the standard
library (see `run`).
"""

from __future__ import annotations

import sys

from . import COMMANDS, DONE, FOUND, INTERNAL, INTERRUPTED, MISUSE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

    from .options import Options


def main(
    argv: Sequence[str] | None = None,
    stdout: TextIO | None = None,
    stderr: TextIO | None = None,
) -> int:
    """Run the command and return its exit status. It never raises."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    out, err = stdout or _escape_unencodable(sys.stdout), stderr or _escape_unencodable(sys.stderr)
    try:
        status = _dispatch(arguments, out, err)
        out.flush()
        return status
    except BrokenPipeError:
        _silence_broken_pipe(out)
        return FOUND
    except OSError as error:
        if error.filename is not None:
            return _print_bug(err)
        _silence_broken_pipe(out)
        err.write(f"error: cannot write the output: {error.strerror}\n")
        return MISUSE
    except KeyboardInterrupt:
        err.write("interrupted\n")
        return INTERRUPTED
    except Exception:
        return _print_bug(err)


def _print_bug(err: TextIO) -> int:
    """Print the exception that is handled as a bug in qten-gen."""
    from traceback import format_exc

    from .printing import print_faults

    print_faults([format_exc()], err)
    return INTERNAL


def _dispatch(arguments: list[str], out: TextIO, err: TextIO) -> int:
    """Print the version, carry out a command, or generate. A mistake of the user is printed, and returned as `MISUSE`."""
    if arguments in (["--version"], ["-V"]):
        from .. import __version__

        out.write(f"qten-gen {__version__}\n")
        return DONE
    from time import perf_counter

    started = perf_counter()
    from ..project.config import ConfigError
    from ..project.files import PathError
    from .options import Options, UsageError

    try:
        if (arguments and arguments[0] in COMMANDS) or any(item.startswith("-") or not item for item in arguments):
            from .parser import Shown, parse

            try:
                options = parse(arguments)
            except Shown as shown:
                out.write(str(shown))
                return DONE
            if arguments[0] in COMMANDS:
                from importlib import import_module

                carry_out = getattr(import_module(f".{arguments[0]}", __package__), arguments[0])
                return int(carry_out(options, out, err))
        else:
            options = Options()
            options.paths = arguments
        return _generate(options, started, out, err)
    except UsageError as error:
        err.write(f"error: {error}\n{error.usage}")
    except PathError as error:
        from .parser import near_command

        err.write(f"error: {error}{near_command(arguments)}\n")
    except ConfigError as error:
        from ..report.concise import headline

        err.write(f"{headline(error.diagnostic, color=False)}\n")
    return MISUSE


def _generate(options: Options, started: float, out: TextIO, err: TextIO) -> int:
    """Read the settings, run, and print the outcome."""
    if options.watch:
        from .watch import watch

        return watch(options, out, err)
    from time import perf_counter

    from ..project.files import project_of
    from ..run.run import run
    from .printing import print_outcome

    writes = options.mode == "write"
    outcome = run(project_of(options.paths), writes)
    print_outcome(outcome, options, perf_counter() - started, out, err)
    if outcome.crashes:
        return INTERNAL
    if outcome.failures:
        return MISUSE
    found = any(item.is_error for item in outcome.diagnostics) or (not writes and outcome.changes)
    return FOUND if found else DONE


def _escape_unencodable(stream: TextIO | None) -> TextIO:
    """Make a standard stream write characters outside its encoding as escapes, as `sys.stderr` does.

    In a process that is started without the stream, it is None, and what is written goes nowhere.
    """
    from io import StringIO, TextIOWrapper

    if stream is None:
        return StringIO()
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return stream


def _silence_broken_pipe(out: TextIO) -> None:
    """Prevent the error message that Python prints at exit if the reader of the output has closed the pipe."""
    import os

    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
    except (OSError, ValueError):
        pass
