"""What type checkers say of generated files, many projects at once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.typing import checked_folders
from tests.typing.checked_folders import PATHS

from .grammar import Source
from .laws import write

Project = tuple[Sequence[Source], Mapping[str, str]]
"""The sources of a project, and the texts that were generated for them by path."""


def wrong(projects: Mapping[int, Project], folder: Path) -> dict[int, list[str]]:
    """What mypy and pyright report of generated files, by the number of the project.

    A project whose sources have errors of their own is left out. mypy sees the stubs, pyright the generated modules too.
    """
    for number, (sources, outputs) in projects.items():
        write(folder / f"p{number}", sources, {path: text.encode() for path, text in outputs.items()})
    reports = [*mypy(folder), *pyright(folder)]
    unsound = {number for number, name, _ in reports if "_qten." not in name}
    found: dict[int, list[str]] = {}
    for number, name, message in reports:
        if number not in unsound:
            found.setdefault(number, []).append(f"{name}: {message}")
    return found


def mypy(folder: Path) -> list[tuple[int, str, str]]:
    """Reports of mypy: the number of the project, the file and the message."""
    files = [str(path.relative_to(folder)) for path in _checked(folder)]
    try:
        found = checked_folders.mypy(folder, PATHS, *files)
    except AssertionError as error:
        return [*_blocking(str(error))]
    return [(*_place(file), f"mypy: {line}: {message}") for (file, line), message in found.items()]


def pyright(folder: Path) -> list[tuple[int, str, str]]:
    """Reports of pyright: the number of the project, the file and the message."""
    found = checked_folders.pyright(folder, PATHS, exclude=[], strict=[], reportUnsupportedDunderAll=False)
    return [(*_place(file), f"pyright: {line}: {message}") for (file, line), message in found.items()]


def _checked(folder: Path) -> list[Path]:
    """The files to name: a stub stands for its module."""
    stubs = {path.with_suffix(".py") for path in folder.rglob("*.pyi")}
    return sorted([*folder.rglob("*.pyi"), *(path for path in folder.rglob("*.py") if path not in stubs)])


def _blocking(output: str) -> list[tuple[int, str, str]]:
    found = re.findall(r"p(\d+)[/\\.](\S+?):\s*(.*)", output)
    return [(int(number), name, f"mypy stopped: {message}") for number, name, message in found] or [(-1, "", output)]


def _place(path: str) -> tuple[int, str]:
    package, _, name = path.replace("\\", "/").partition("/")
    return int(package.removeprefix("p")), name
