"""Finds files that are imported under another module name than the one that qten-gen gives them.

Outside packages and source roots, a file is a top-level module such as `model`. If a program imports `shop.model`, or the file
uses relative imports, its folder is a package without an `__init__.py`, and no source root is set for it.
"""

from collections.abc import Collection, Mapping
from os.path import split
from typing import NamedTuple

from ..common.naming import source_module
from .scan import Origin, Scan


class ImportMismatch(NamedTuple):
    """A file that seems to be part of a package."""

    evidence: str
    """Why it seems so, for the message."""
    root: str = ""
    """The folder that the package seems to be imported from; empty if it is not known."""


def find_import_mismatches(
    origins: Mapping[str, Origin], scans: Mapping[str, Scan], relevant: Collection[str]
) -> dict[str, ImportMismatch]:
    """Find the relevant files with a mismatch. Both mappings have the same keys."""
    modules: dict[str, list[str]] = {}
    found: dict[str, ImportMismatch] = {}
    for path in relevant:
        modules.setdefault(origins[path].module, []).append(path)
        if scans[path].relative and "." not in origins[path].module and not origins[path].is_package:
            found[path] = ImportMismatch("this file uses relative imports")
    known = {origin.module for origin in origins.values()}
    for name in sorted({name for scan in scans.values() for name in scan.imports} - known):
        spelled = source_module(name) or name
        leading, _, rest = spelled.partition(".")
        while rest and spelled not in known:
            for path in modules.get(rest, ()):
                root = _above(origins[path].root, leading.split("."))
                if root is not None:
                    # The same one in every run.
                    importer = min(other for other, scan in scans.items() if name in scan.imports)
                    found[path] = ImportMismatch(f"{importer} imports this file as {spelled}", root)
            further, _, rest = rest.partition(".")
            leading = f"{leading}.{further}"
    return found


def _above(folder: str, names: list[str]) -> str | None:
    """The folder above `folder` without these names at its end; None if it does not end with them."""
    for name in reversed(names):
        folder, last = split(folder)
        if last != name:
            return None
    return folder
