"""The command `qten-gen init`, which sets a project up. It adds lines to files, changes none that are there, and asks nothing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TextIO

from ..project.apply import Change, diff, write
from ..project.config import Config, ConfigError, load
from ..project.paths import display_path, read_regular
from ..project.setting_up import Edit, edits
from ..report.concise import headline
from . import DONE, FOUND, MISUSE
from .misuse import misuse, unknown_option

_USAGE = "usage: qten-gen init [--check | --diff]\n"
_HELP = f"""{_USAGE}
Set up the project in this folder: write the section [tool.qten-gen], exclude
generated files from coverage, ruff and diffs on GitHub, and add a pre-commit
hook in a git repository. Existing settings are kept, so a second call changes
nothing.

  --check, --diff      write nothing; print what is missing, and exit with 1
"""


def init(arguments: Sequence[str], out: TextIO, err: TextIO) -> int:
    """Add what is missing, print what was added, and return the exit status."""
    if list(arguments) in (["-h"], ["--help"]):
        out.write(_HELP)
        return DONE
    if list(arguments) not in ([], ["--check"], ["--diff"]):
        return misuse(unknown_option(arguments, ("--check", "--diff")), _USAGE, err)
    try:
        root = _root(load("."))
        found = edits(
            lambda name: _text(os.path.join(root, name)),
            lambda name: os.path.isdir(os.path.join(root, name)),
            _below_repository(os.path.abspath(root)),
        )
        changes = [
            Change(display_path(os.path.join(root, item.name)), _bytes(item.old), item.new.encode()) for item in found
        ]
        if not arguments:
            for change in changes:
                if change.old != change.new:
                    write(change)
    except ConfigError as error:
        err.write(f"{headline(error.diagnostic, color=False)}\n")
        return MISUSE
    except (OSError, UnicodeDecodeError) as error:
        err.write(f"error: {error}\n")
        return MISUSE
    if arguments == ["--diff"]:
        out.writelines(diff(item for item in changes if item.old != item.new))
    else:
        _print(found, root, out, "missing" if arguments else "added")
    return FOUND if arguments and any(item.old != item.new for item in found) else DONE


def _root(config: Config) -> str:
    return config.root or os.getcwd()


def _below_repository(root: str) -> list[str]:
    """The names of the folders from the nearest git repository above a folder down to it; none if there is no repository."""
    names: list[str] = []
    folder = root
    while os.path.dirname(folder) != folder:
        folder, name = os.path.split(folder)
        names.insert(0, name)
        if os.path.lexists(os.path.join(folder, ".git")):
            return names
    return []


def _print(found: Sequence[Edit], root: str, out: TextIO, verb: str) -> None:
    """Print a line for each addition, and one for each that the user has to make by hand."""
    for item in found:
        path = display_path(os.path.join(root, item.name))
        out.writelines(f"{verb}: {path}: {said}\n" for said in item.added)
        out.writelines(f"by hand: {path}: {said}\n" for said in item.left)
    if not found:
        out.write("everything is set up\n")


def _text(path: str) -> str | None:
    """The text of a file; None if it does not exist."""
    try:
        return read_regular(path).decode()
    except FileNotFoundError:
        return None


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()
