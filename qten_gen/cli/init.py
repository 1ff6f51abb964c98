"""The command `qten-gen init`, which sets a project up. It adds lines to files, changes none that are there, and asks nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TextIO

from ..project.apply import Change, diff, write
from ..project.config import Settings
from ..project.files import discover
from ..project.paths import display_path, read_regular
from ..project.setting_up import edits
from . import DONE, FOUND
from .options import Options, UsageError


def init(options: Options, out: TextIO, err: TextIO) -> int:
    """Add what is missing, print what was added, and return the exit status.

    Raises:
        ConfigError: The settings of the project cannot be used.
        UsageError: A file cannot be read or written.
    """
    writes, settings = options.mode == "write", Settings()
    try:
        root = settings.of(".").root or os.getcwd()
        found = edits(
            lambda name: _text(os.path.join(root, name)),
            lambda name: os.path.isdir(os.path.join(root, name)),
            _below_repository(os.path.abspath(root)),
        )
        changes = [
            Change(
                display_path(os.path.join(root, item.name)),
                None if item.old is None else item.old.encode(),
                item.new.encode(),
            )
            for item in found
            if item.old != item.new
        ]
        for change in changes if writes else ():
            write(change)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(str(error)) from None
    if options.diff:
        out.writelines(diff(changes))
    else:
        hiding = [*_stubs_that_hide(settings)]
        for item in found:
            path = display_path(os.path.join(root, item.name))
            out.writelines(f"{'added' if writes else 'missing'}: {path}: {said}\n" for said in item.added)
            out.writelines(f"by hand: {path}: {said}\n" for said in item.left)
        out.writelines(
            f"by hand: {path}: remove it; type checkers read it in place of {path[:-1]}\n" for path in hiding
        )
        out.write("" if found or hiding else "everything is set up\n")
    return FOUND if changes and not writes else DONE


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


def _stubs_that_hide(settings: Settings) -> Iterator[str]:
    """The hand-written stubs beside files with declarations, which type checkers read in place of these."""
    config = settings.of(".")
    for path in discover([config.root or "."], config, settings).sources:
        if os.path.exists(f"{path}i") and b"qten_gen" in read_regular(path):
            yield f"{path}i"


def _text(path: str) -> str | None:
    """The text of a file; None if it does not exist."""
    try:
        return read_regular(path).decode()
    except FileNotFoundError:
        return None
