"""The text of a running program's modules, for a class statement that names what is imported for type checkers only.

Modules are found without importing them.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from ..link.bases import Root
from ..link.program import Library, Program, Reading
from ..model import Asked, ImportContext, Meaning, TypeExpr
from ..read.module import read

_WITHOUT_DECLARATIONS = frozenset(
    {*sys.stdlib_module_names, "jaxtyping", "numpy", "qten_gen", "tensordict", "torch", "typing_extensions"}
)
"""Packages in which nothing is declared, and no type is defined that the readers would have to know."""


class OwnText(NamedTuple):
    """The text of the module that runs: of a script or a notebook, where nobody could find it by the name of the module."""

    module: str
    path: str
    text: str


def meaning(qualified: str, own: OwnText | None = None) -> Meaning | None:
    """The meaning of a name that does not exist yet, or None where no text gives it one."""
    module = _home(qualified, own)
    if module is None:
        return None
    program = _running(module, own).program
    found = program.names.expand(TypeExpr(qualified))
    if found.name == qualified and program.names.class_of(qualified) is None:
        return None
    nested = (name for name in found.mentioned if program.ancestry.root(name) is Root.TENSORCLASS)
    return Meaning(found, frozenset(nested))


@dataclass(slots=True)
class _Running:
    """The modules of the running program that were read so far."""

    own: OwnText | None
    stamps: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Times and sizes of the files, which show whether one was edited since."""
    readings: dict[str, Reading | None] = field(default_factory=dict)
    program: Program = field(init=False)

    def __post_init__(self) -> None:
        self.program = Program(Library(self._reading, self._is_package, _Declaring()))

    def is_current(self) -> bool:
        """True if all files are as they were read."""
        return all(_stamp(path) == stamp for path, stamp in self.stamps.items())

    def _reading(self, module: str) -> Reading | None:
        if module not in self.readings:
            self.readings[module] = self._read(module)
        return self.readings[module]

    def _read(self, module: str) -> Reading | None:
        path = _path(module, self.own)
        text = None if path is None else self._text(module, path)
        if path is None or text is None:
            return None
        asked, package = Asked(), _is_package(path)
        file, _ = read(text, path, module, package, ImportContext(asked))
        return Reading(file, asked.names, lambda context: read(text, path, module, package, context)[0])

    def _text(self, module: str, path: str) -> bytes | None:
        if self.own is not None and module == self.own.module:
            return self.own.text.encode()
        try:
            self.stamps[path] = _stamp(path)
            return Path(path).read_bytes()
        except OSError:
            return None

    def _is_package(self, module: str) -> bool | None:
        path = _path(module, self.own)
        return None if path is None else _is_package(path)


class _Declaring:
    """Contains the first parts of the names of all modules that may declare something."""

    def __contains__(self, head: object) -> bool:
        return bool(head) and head not in _WITHOUT_DECLARATIONS


_REMEMBERED = 16
_remembered: dict[tuple[str, OwnText | None], _Running] = {}


def _running(module: str, own: OwnText | None) -> _Running:
    """A module, and what it imports as far as that is asked for. It is remembered until a file changes."""
    # Taken out and put back, so that the one that was used longest ago is forgotten first.
    found = _remembered.pop((module, own), None)
    if found is None or not found.is_current():
        found = _Running(own)
    _remembered[module, own] = found
    if len(_remembered) > _REMEMBERED:
        del _remembered[next(iter(_remembered))]
    return found


def _stamp(path: str) -> tuple[int, int]:
    """The time and size of a file; negative for one that is gone."""
    try:
        status = os.stat(path)
    except OSError:
        return -1, -1
    return status.st_mtime_ns, status.st_size


def _is_package(path: str) -> bool:
    return Path(path).name == "__init__.py"


def _home(qualified: str, own: OwnText | None) -> str | None:
    """The module that a qualified name is looked up in: the longest part of it that is one."""
    parts = qualified.split(".")
    for end in range(len(parts) - 1, 0, -1):
        module = ".".join(parts[:end])
        if parts[0] not in _WITHOUT_DECLARATIONS and _path(module, own) is not None:
            return module
    return None


def _path(module: str, own: OwnText | None) -> str | None:
    """The file of a module; None if there is none with Python source."""
    if own is not None and module == own.module:
        return own.path
    spec = _spec(module)
    return spec.origin if spec is not None and spec.origin is not None and spec.origin.endswith(".py") else None


def _spec(module: str) -> ModuleSpec | None:
    """Where a module is, found without importing the packages that it is in."""
    loaded = getattr(sys.modules.get(module), "__spec__", None)
    if isinstance(loaded, ModuleSpec):
        return loaded
    package, _, _ = module.rpartition(".")
    try:
        if not package:
            return find_spec(module)
        above = _spec(package)
        folders = None if above is None else above.submodule_search_locations
        return None if folders is None else PathFinder.find_spec(module, folders)
    except (ImportError, ValueError):
        return None
