"""Paths as messages show them, and as the file system spells them."""

import os
import stat
import sys
from collections.abc import Callable, Iterable

from .output_names import NO_OUTPUT


def display_path(path: str) -> str:
    """A path as messages show it: relative to the working directory if it is below that, otherwise absolute."""
    absolute = os.path.abspath(path)
    here = os.getcwd()
    if absolute == here:
        return "."
    prefix = here if here.endswith(os.sep) else here + os.sep  # the root of a disk ends with a separator
    return absolute.removeprefix(prefix)


def below(folder: str) -> Callable[[str], bool]:
    """A test whether a display path is inside a folder, which is a display path too."""
    if folder == ".":
        return lambda path: not os.path.isabs(path)
    prefix = os.path.join(folder, "")
    # Paths below the working directory are shown without it.
    if os.path.isabs(folder) and os.path.join(os.getcwd(), "").startswith(prefix):
        return lambda path: path.startswith(prefix) or not os.path.isabs(path)
    return lambda path: path.startswith(prefix)


def leads_below(path: str, folders: Iterable[str]) -> bool:
    """True if a path is one of the others or below one, once links are followed: a link can lead out of a checkout."""
    real = os.path.realpath(path)
    return any(real == other or real.startswith(os.path.join(other, "")) for other in map(os.path.realpath, folders))


def relative_to(path: str, base: str) -> str:
    """The path from a folder, with forward slashes. On another drive of Windows there is none, so the path stays absolute."""
    try:
        found = os.path.relpath(path, base)
    except ValueError:
        found = os.path.abspath(path)
    return found.replace(os.sep, "/")


def true_path(path: str) -> str:
    """The path without links to folders, spelled as its folder lists it.

    A file that is a link stays one: its module has the name of the link. Where case does not count, `Model.py` also names
    `model.py`, and the module has the listed name.
    """
    absolute = os.path.abspath(path)
    if os.path.isdir(absolute):
        return _as_listed(os.path.realpath(absolute))
    folder, name = os.path.split(absolute)
    return _as_listed(os.path.join(os.path.realpath(folder), name))


def _as_listed(path: str) -> str:
    """The path with its last name as the folder lists it."""
    folder, name = os.path.split(path)
    if not name:
        return path
    try:
        names = os.listdir(folder)
    except OSError:
        return path
    if name not in names:
        same = [other for other in names if other.casefold() == name.casefold()]
        name = next((other for other in same if _is_same(path, os.path.join(folder, other))), name)
    return os.path.join(folder, name)


def _is_same(path: str, other: str) -> bool:
    try:
        return os.path.samefile(path, other)
    except OSError:
        return False


def read_regular(path: str, size: int = -1) -> bytes:
    """The bytes of a regular file, all or the first ones. Reading a pipe or a device could wait for ever, so they are refused.

    Raises:
        OSError: It cannot be read, or is not a regular file.
    """
    # Without O_NONBLOCK, opening a pipe waits for a writer.
    number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(number, "rb") as file:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise OSError(0, "it is not a regular file", path)
        return file.read(size)


def search_path() -> tuple[str, ...]:
    """The folders that Python searches for modules, without the one of the script that runs."""
    return tuple(map(os.path.abspath, sys.path if sys.flags.safe_path else sys.path[1:]))


def read_output(path: str) -> bytes:
    """The bytes of an output; `NO_OUTPUT` for a link, a folder or a pipe, which qten-gen never writes, and for nothing."""
    if os.path.islink(path):
        return NO_OUTPUT
    try:
        return read_regular(path)
    except OSError:
        return NO_OUTPUT


def read_all(paths: Iterable[str]) -> tuple[dict[str, bytes], list[tuple[str, str]]]:
    """The bytes of the files, and the unreadable files with the reason."""
    texts: dict[str, bytes] = {}
    unreadable: list[tuple[str, str]] = []
    for path in paths:
        try:
            texts[path] = read_regular(path)
        except OSError as error:
            unreadable.append((path, error.strerror or str(error)))
    return texts, unreadable
