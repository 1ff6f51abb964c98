"""The `qten-gen` command: arguments in, exit status out.

Imports are ordered so that it feels instant: nothing but `sys` before `--version` is answered, the standard library alone while
nothing has changed (see `run`).
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TextIO

    from ..project.config import Config
    from .options import Options
    from .run import Outcome

DONE, FOUND, MISUSE, INTERNAL, INTERRUPTED = 0, 1, 2, 101, 130
"""Exit statuses: all is well; errors, or stale outputs; wrong use; a fault of ours; interrupted."""


def main(argv: Sequence[str] | None = None, stdout: TextIO | None = None, stderr: TextIO | None = None) -> int:
    """Run the command and return its exit status. Nothing is raised, whatever happens."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    out, err = stdout or _escape_unencodable(sys.stdout), stderr or _escape_unencodable(sys.stderr)
    try:
        status = _main(arguments, out, err)
        out.flush()
        return status
    except KeyboardInterrupt:
        err.write("interrupted\n")
        return INTERRUPTED
    except BrokenPipeError:
        _silence_broken_pipe(out)
        return FOUND
    except Exception as error:
        if _is_interruption(error):
            err.write("interrupted\n")
            return INTERRUPTED
        import traceback

        _report_fault([traceback.format_exc()], err)
        return INTERNAL


def _escape_unencodable(stream: TextIO) -> TextIO:
    """A stream of the process that writes what its encoding cannot express as an escape, as Python itself does for errors."""
    from io import TextIOWrapper

    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return stream


def _main(arguments: list[str], out: TextIO, err: TextIO) -> int:
    if arguments in (["--version"], ["-V"]):
        from .. import __version__

        out.write(f"qten-gen {__version__}\n")
        return DONE
    if arguments[:1] == ["explain"]:
        from .explain import explain

        return explain(arguments[1:], out, err)
    from ..project.config import ConfigError, load
    from ..project.files import PathError
    from .options import UsageError, parse

    try:
        options = parse(arguments, out)
        if options is None:
            return DONE
        config = load(options.paths[0] if options.paths else ".")
        return _generate(options, config, _paths(options, config), out, err)
    except UsageError as error:
        err.write(f"error: {error}\nusage: qten-gen [options] [path ...]; for more, qten-gen --help\n")
    except PathError as error:
        err.write(f"error: {error}\n")
    except ConfigError as error:
        err.write(f"{error}\n")
    return MISUSE


def _paths(options: Options, config: Config) -> list[str]:
    """The paths of the command line, or else those of the settings."""
    import os

    from ..project.config import ConfigError
    from ..project.files import shown
    from .options import UsageError

    if options.paths:
        return list(options.paths)
    if not config.src or config.root is None:
        file = shown(config.path) if config.path else "pyproject.toml"
        raise UsageError(
            f"no path given; name files or folders (qten-gen src), or set src in [tool.qten-gen] of {file}"
        )
    paths = [os.path.join(config.root, folder) for folder in config.src]
    for folder, path in zip(config.src, paths, strict=True):
        if not os.path.exists(path):
            raise ConfigError(f"{shown(config.path or '')}: error: src names {folder!r}, which does not exist")
    return paths


def _generate(options: Options, config: Config, paths: list[str], out: TextIO, err: TextIO) -> int:
    """Run, print what there is to say, and tell the exit status."""
    import time

    from .run import run
    from .summary import summary

    started = time.perf_counter()
    outcome = run(paths, config, writes=options.mode == "write")
    # Standard output carries the diff, or the one JSON document, and nothing else.
    form = options.output_format or config.output_format or _default_format()
    messages = err if options.mode == "diff" or form == "json" else out
    _show_diagnostics(outcome, options, form, err if options.mode == "diff" else out)
    if options.mode == "diff":
        from ..project.apply import diff

        out.writelines(diff(outcome.changes))
    elif not options.quiet:
        _show_changes(outcome, options, messages)
    for failure in outcome.failures:
        err.write(f"error: {failure.path}: {failure.problem}\n")
    if outcome.crashes:
        _report_fault((f"{crash.stage} {crash.path}\n{crash.traceback}" for crash in outcome.crashes), err)
    if not options.quiet:
        messages.write(f"{summary(outcome, options.mode, time.perf_counter() - started)}\n")
    return _status(outcome, options)


def _status(outcome: Outcome, options: Options) -> int:
    if outcome.crashes:
        return INTERNAL
    if outcome.failures:
        return MISUSE
    found = any(item.is_error for item in outcome.diagnostics) or (options.mode != "write" and outcome.changes)
    return FOUND if found else DONE


def _show_diagnostics(outcome: Outcome, options: Options, form: str, out: TextIO) -> None:
    shown = [item for item in outcome.diagnostics if item.is_error or not options.quiet]
    if shown or form == "json":
        from ..report import report

        out.write(report(form, shown, color=options.color.enabled(out)))
        if form == "full":
            out.write("\n")


def _show_changes(outcome: Outcome, options: Options, out: TextIO) -> None:
    """One line for each output that is not as it should be, when checking; for each that was changed, when asked for with -v."""
    if options.mode == "check":
        from ..project.header import read_marker

        for change in outcome.changes:
            marker = read_marker(change.old or b"")
            edited = change.kind == "stale" and marker is not None and not marker.intact
            out.write(f"{change.kind}: {change.path}{' (edited by hand)' if edited else ''}\n")
    elif options.verbose:
        for change in outcome.changes:
            out.write(f"{'removed' if change.new is None else 'written'}: {change.path}\n")
    for path in outcome.held:
        out.write(f"held back: {path}, which depends on a file with errors\n")


def _is_interruption(error: BaseException | None) -> bool:
    """Whether an error goes back to Ctrl-C: Python 3.11 wraps one that comes while a class is being made in a RuntimeError."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def _default_format() -> str:
    import os

    return "github" if os.environ.get("GITHUB_ACTIONS") == "true" else "full"


def _report_fault(tracebacks: Iterable[str], err: TextIO) -> None:
    import platform

    from .. import __version__

    for text in tracebacks:
        err.write(f"{text.rstrip()}\n\n")
    err.write(
        "error: this is a bug in qten-gen, not in your code. Nothing was written for the file concerned.\n"
        "Please report it to its maintainers, with the text above and the source file.\n"
        f"qten-gen {__version__}, Python {platform.python_version()}, {platform.platform()}\n"
    )


def _silence_broken_pipe(out: TextIO) -> None:
    """After the reader of a pipe has gone, keep the interpreter from complaining when it closes the stream."""
    import os

    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
    except (OSError, ValueError):
        pass
