"""The command `qten-gen stubs`, which writes typed stubs for modules of installed libraries."""

from __future__ import annotations

import os
from typing import TextIO

from ..common.header import read_header
from ..project.apply import Change, changes, write_in_new_folders
from ..project.config import config_of
from ..project.libraries import Installed
from ..project.paths import display_path, read_regular
from ..tools.stubs.planning import plan
from . import DONE, FOUND, MISUSE
from .options import Options, UsageError

FOLDER = "typings"
"""Where the stubs go; pyright reads this folder without a setting."""

_SETTINGS = """\
type checkers read {0} with these settings in pyproject.toml:
  [tool.mypy]
  mypy_path = "{0}"
  [tool.pyright]
  stubPath = "{0}"            # the default is "typings"
  [tool.pyrefly]
  search-path = ["{0}", "."]  # then run: pyrefly check -c pyproject.toml
  [tool.ty.environment]
  extra-paths = ["{0}"]
"""


def stubs(options: Options, out: TextIO, err: TextIO) -> int:
    """Write the stubs, or with `--check` say which are out of date, and return the exit status.

    Raises:
        ConfigError: The settings of the project cannot be used.
        UsageError: No module is named.
    """
    status, has_changed = write_stubs(options, out, err)
    folder = options.folder or FOLDER
    settings = text_of(os.path.join(config_of(".").root, "pyproject.toml"))
    if has_changed and not (options.check or options.quiet) and folder not in settings:
        out.write(_SETTINGS.format(folder))
    return status


def write_stubs(options: Options, out: TextIO, err: TextIO) -> tuple[int, bool]:
    """Write the stubs; return the exit status, and True if some were out of date.

    Raises:
        ConfigError: The settings of the project cannot be used.
        UsageError: No module is named.
    """
    config = config_of(".")
    modules = list(dict.fromkeys(options.modules)) or config.stubs
    if not modules:
        raise UsageError("name modules such as torch.nn, or list them as `stubs` in [tool.qten-gen]")
    planned = plan(modules, Installed(), exact_none=options.exact_none)
    folder = options.folder or os.path.join(config.root, FOLDER)
    found, problems = _changes(folder, planned.texts, whole=not options.modules and not planned.absent)
    problems = [*planned.problems, *problems]
    for change in () if problems or options.check else found:
        try:
            write_in_new_folders(change)
        except OSError as error:
            problems.append(f"{display_path(change.path)}: cannot write it: {error.strerror}")
    err.writelines(f"error: {problem}\n" for problem in (*problems, *planned.absent))
    if problems or not planned.texts:
        return MISUSE, False
    if not options.quiet:
        if options.check:
            out.writelines(f"{change.kind}: {display_path(change.path)}\n" for change in found)
        removed = sum(change.new is None for change in found)
        counts = ((len(found) - removed, "written"), (removed, "removed"))
        done = ", ".join(f"{number} {what}" for number, what in counts if number)
        said = " are up to date" if not found else f": {len(found)} out of date" if options.check else f": {done}"
        out.write(f"{len(planned.texts)} stubs of {', '.join(planned.libraries)} in {display_path(folder)}{said}\n")
    return MISUSE if planned.absent else FOUND if options.check and found else DONE, bool(found)


def _changes(folder: str, texts: dict[str, str], *, whole: bool) -> tuple[list[Change], list[str]]:
    """The files to write and to remove, and the files in the way, which somebody else wrote.

    Of the stubs in the folder that are not planned, those of a package that is written anew are removed, and with `whole` all.
    """
    existing: dict[str, bytes] = {}
    problems: list[str] = []
    planned: dict[str, str | None] = {os.path.join(folder, *path.split("/")): text for path, text in texts.items()}
    tops = None if whole else {path.split("/")[0] for path in texts}
    for path in dict.fromkeys([*planned, *(_stubs_in(folder, tops) if texts else ())]):
        try:
            existing[path] = read_regular(path)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            problems.append(f"{display_path(path)}: cannot read it: {error.strerror}")
            continue
        if read_header(existing[path]) is not None:
            planned.setdefault(path, None)
        elif path in planned:
            problems.append(f"{display_path(path)}: qten-gen did not write it, and leaves it; move it, or use --folder")
    return list(changes(planned, existing)), problems


def _stubs_in(folder: str, tops: set[str] | None) -> list[str]:
    """The stubs below a folder, of all packages or of the ones in `tops`."""
    found: list[str] = []
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        if tops is None or name in tops:
            place = os.path.join(folder, name)
            found += [os.path.join(above, file) for above, _, files in os.walk(place) for file in sorted(files)]
            found += [place] if os.path.isfile(place) else []
    return [path for path in found if path.endswith(".pyi")]


def text_of(path: str) -> str:
    """The text of a file; empty if it does not exist."""
    try:
        return read_regular(path).decode()
    except FileNotFoundError:
        return ""
