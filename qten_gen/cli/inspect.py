"""The command `qten-gen inspect`. Only this module and `lock` import the user's code, and with it torch."""

from __future__ import annotations

import os
from typing import TextIO

from ..project.config import config_of
from . import DONE, FOUND, MISUSE
from .options import Options


def inspect(options: Options, out: TextIO, err: TextIO) -> int:
    """Inspect a model, print what it holds, and return the exit status.

    Raises:
        ConfigError: The settings of the project cannot be used.
    """
    roots = tuple(root for root in config_of(".").import_roots if os.path.isdir(root))
    from shutil import get_terminal_size

    from ..tools.inspect.model_building import floating_dtype, model_of
    from ..tools.inspect.model_tree import contents_of
    from ..tools.inspect.user_code import InspectionError, aside
    from ..tools.inspect.views import as_json, as_text

    try:
        dtype = None if options.dtype is None else floating_dtype(options.dtype)
        with aside():
            entries = contents_of(model_of(options.target, tuple(options.config), dtype, roots))
        if options.json:
            text = as_json(options.target, entries)
        else:
            width = get_terminal_size().columns if out.isatty() else None  # in a file or a pipe, nothing is shortened
            text = as_text(entries, width=width, color=options.color.enabled(out), folds=not options.unfold)
    except InspectionError as error:
        err.write(error.trace)
        err.writelines(f"error: {problem}\n" for problem in error.problems)
        return MISUSE if error.is_misuse else FOUND
    except RecursionError:
        err.write(f"error: the modules of {options.target} nest too deeply to be shown\n")
        return FOUND
    encoding = out.encoding or "utf-8"
    is_writable = options.json or text.encode(encoding, "ignore").decode(encoding) == text
    out.write(text if is_writable else text.translate(_PLAIN))
    return DONE


_PLAIN = str.maketrans({"├": "|", "│": "|", "└": "`", "─": "-", "…": "~", "\u00d7": "x"})
"""Replacements for characters that a terminal may not have."""
