"""The command `qten-gen inspect`. Only this module imports the inspection, because that imports torch and the user's code."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TextIO

from ..project.config import Config, Settings
from . import DONE, FOUND, MISUSE
from .misuse import UsageError
from .options import InspectOptions

if TYPE_CHECKING:
    from ..tools.inspect.inspection import Inspection
    from ..tools.inspect.request import InspectionError, Request


def inspect(options: InspectOptions, out: TextIO, err: TextIO) -> int:
    """Inspect a model, print what was found, and return the exit status.

    Raises:
        ConfigError: The settings of the project cannot be used.
        UsageError: All modules of the settings are meant, and they name none.
    """
    config = Settings().of(".")
    if not options.all:
        return _inspected(options, config, out, err)
    if not config.locks:
        raise UsageError("--all inspects the modules that [tool.qten-gen] lists as `locks`, and it lists none")
    return max(_checked(target, options, config, out, err) for target in config.locks)


def _inspected(options: InspectOptions, config: Config, out: TextIO, err: TextIO) -> int:
    """Inspect what the options ask for."""
    from ..tools.inspect.inspection import inspect as inspected
    from ..tools.inspect.request import InspectionError

    try:
        found = inspected(_request(options, config))
        _print(found, options, out)
    except InspectionError as error:
        return _print_problems(error, err)
    except RecursionError:
        err.write(f"error: the modules of {options.target} nest too deeply to be shown\n")
        return FOUND
    return DONE if found.is_good else FOUND


def _checked(target: str, options: InspectOptions, config: Config, out: TextIO, err: TextIO) -> int:
    """Inspect and run one module of the settings, and print a line about it, and what is wrong."""
    from dataclasses import replace

    from ..tools.inspect.annotated_inputs import UnknownInputs
    from ..tools.inspect.inspection import inspect as inspected
    from ..tools.inspect.inspection import names_module
    from ..tools.inspect.request import InspectionError
    from ..tools.inspect.views.run_text import summary_lines

    try:
        request = replace(_request(options, config), target=target)
        if not names_module(request):
            return DONE
        problem = ""
        try:
            found = inspected(replace(request, inputs=request.inputs or ()))
        except UnknownInputs as unknown:
            found, problem = inspected(request), unknown.problems[0]
    except InspectionError as error:
        err.write(f"{target}:\n")
        return _print_problems(error, err)
    out.writelines(f"{line}\n" for line in summary_lines(target, found, problem, options.color.enabled(out)))
    out.flush()  # so that a log has both streams in order
    return DONE if found.is_good else FOUND


def _request(options: InspectOptions, config: Config) -> Request:
    """The request that the options make, with the folders from which the model is imported."""
    from ..tools.inspect.request import Request

    return Request(
        target=options.target or "",
        config=tuple(options.config),
        inputs=None if options.run is None else tuple(options.run),
        mesh=options.mesh,
        plan=options.plan,
        dtype=options.dtype,
        device=options.device,
        import_roots=tuple(root for root in config.import_roots if os.path.isdir(root)),
    )


def _print_problems(error: InspectionError, err: TextIO) -> int:
    """Print what is wrong, after the frames of the user's code that led to it; the exit status."""
    err.write(error.trace)
    err.writelines(f"error: {problem}\n" for problem in error.problems)
    return MISUSE if error.is_misuse else FOUND


def _print(found: Inspection, options: InspectOptions, out: TextIO) -> None:
    """Print the JSON document, or the text."""
    if options.json:
        from ..tools.inspect.views.json_document import as_json

        out.write(as_json(found))
        return
    from ..tools.inspect.views.text import as_text

    text = as_text(found, width=_width(out), color=options.color.enabled(out), folds=not options.unfold)
    out.write(text if _can_encode(text, out) else text.translate(_PLAIN))


_PLAIN = str.maketrans({"├": "|", "│": "|", "└": "`", "─": "-", "…": "~", "\u00d7": "x"})
"""Replacements for characters that a terminal may not have."""


def _can_encode(text: str, out: TextIO) -> bool:
    try:
        text.encode(out.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _width(out: TextIO) -> int | None:
    """The width of the terminal; None for a file or a pipe, where nothing is shortened."""
    if not out.isatty():
        return None
    from shutil import get_terminal_size

    return get_terminal_size().columns
