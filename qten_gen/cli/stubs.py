"""The command `qten-gen stubs`, which writes typed stubs for modules of installed libraries."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TextIO

from ..project.apply import Change
from ..project.config import Config, Settings
from . import DONE, FOUND, MISUSE
from .options import Options, UsageError

FOLDER = "typings"
"""Where the stubs go; pyright reads this folder without a setting."""


def write_stubs(options: Options, out: TextIO, err: TextIO) -> int:
    """Write the stubs, or with `--check` say which are out of date, and return the exit status.

    Raises:
        ConfigError: The settings of the project cannot be used.
        UsageError: No module is named.
    """
    config = Settings().of(".")
    modules = list(dict.fromkeys(options.modules)) or config.stubs
    if not modules:
        raise UsageError("name modules such as torch.nn, or list them as `stubs` in [tool.qten-gen]")
    return _written(modules, options, config, out, err)


def _written(modules: Sequence[str], options: Options, config: Config, out: TextIO, err: TextIO) -> int:
    """Plan the stubs, write what has changed, and print all that is wrong or what was done."""
    from ..project.apply import write_in_new_folders
    from ..project.libraries import Installed
    from ..project.paths import display_path
    from ..tools.stubs.planning import plan

    environment = None if config.environment is None else os.path.join(config.root or "", config.environment)
    stubs = plan(modules, Installed(environment), exact_none=options.exact_none)
    folder = options.folder or os.path.join(config.root or ".", FOLDER)
    changes, problems = _changes(folder, stubs.texts, whole=not options.modules and not stubs.absent)
    problems = [*stubs.problems, *problems]
    if not problems and not options.check:
        for change in changes:
            try:
                write_in_new_folders(change)
            except OSError as error:
                problems.append(f"{display_path(change.path)}: cannot write it: {error.strerror}")
    err.writelines(f"error: {problem}\n" for problem in (*problems, *stubs.absent))
    if problems or not stubs.texts:
        return MISUSE
    if not options.quiet:
        if options.check:
            out.writelines(f"{change.kind}: {display_path(change.path)}\n" for change in changes)
        out.write(_summary(stubs.libraries, len(stubs.texts), changes, options.check))
        if changes and not options.check:
            out.write(_settings(display_path(folder)))
    if stubs.absent:
        return MISUSE
    return FOUND if options.check and changes else DONE


def _changes(folder: str, texts: dict[str, str], *, whole: bool) -> tuple[list[Change], list[str]]:
    """The files to write and to remove, and the files in the way, which somebody else wrote.

    Of the stubs in the folder that are not planned, those of a package that is written anew are removed, and with `whole` all.
    """
    from ..common.header import read_header
    from ..project.apply import changes
    from ..project.paths import display_path, read_regular

    existing: dict[str, bytes] = {}
    problems: list[str] = []
    planned: dict[str, str | None] = {os.path.join(folder, *path.split("/")): text for path, text in texts.items()}
    tops = {path.split("/")[0] for path in texts}
    present = _stubs_in(folder, None if whole else tops) if texts else []
    for path in dict.fromkeys([*planned, *present]):
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
    """The stubs below a folder; those of some packages, or all."""
    found: list[str] = []
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        if tops is None or name in tops:
            place = os.path.join(folder, name)
            found += [os.path.join(above, file) for above, _, files in os.walk(place) for file in sorted(files)]
            found += [place] if os.path.isfile(place) else []
    return [path for path in found if path.endswith(".pyi")]


def _summary(libraries: Sequence[str], stubs: int, changes: Sequence[Change], check: bool) -> str:
    """One line about a run."""
    of = ", ".join(libraries)
    if not changes:
        return f"{stubs} stubs of {of} are up to date\n"
    if check:
        return f"{stubs} stubs of {of}: {len(changes)} out of date\n"
    removed = sum(change.new is None for change in changes)
    counts = ((len(changes) - removed, "written"), (removed, "removed"))
    return f"{stubs} stubs of {of}: {', '.join(f'{number} {done}' for number, done in counts if number)}\n"


def _settings(folder: str) -> str:
    """The lines that type checkers need."""
    return f"""\
type checkers read {folder} with these settings in pyproject.toml:
  [tool.mypy]
  mypy_path = "{folder}"
  [tool.pyright]
  stubPath = "{folder}"            # the default is "typings"
  [tool.pyrefly]
  search-path = ["{folder}", "."]  # then run: pyrefly check -c pyproject.toml
  [tool.ty.environment]
  extra-paths = ["{folder}"]
"""
