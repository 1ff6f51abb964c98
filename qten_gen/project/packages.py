"""Decides which folders are packages, and so the names of the modules in them.

A folder with an `__init__.py` is a package. A folder below a source root is a package too; without an `__init__.py` it is a
namespace package. In any other folder, the files are top-level modules, as they are when Python runs one of them.
"""

import os
from collections.abc import Sequence


class Packages:
    """Finds the package of a folder, and caches the results."""

    def __init__(self, roots: Sequence[str] = ()) -> None:
        self._roots = frozenset(os.path.abspath(root) for root in roots)
        self._known: dict[str, tuple[str, str]] = {}

    def of(self, folder: str) -> tuple[str, str]:
        """The folder that modules in `folder` are imported from, as an absolute path, and the dotted name of the package.

        The name is empty if the folder is not a package.
        """
        if folder not in self._known:
            absolute = os.path.abspath(folder)
            self._known[folder] = self._found(absolute) if absolute == folder else self.of(absolute)
        return self._known[folder]

    def outermost(self, folder: str) -> str | None:
        """The top-level package of a folder; None if the folder is not a package."""
        root, package = self.of(folder)
        return os.path.join(root, package.partition(".")[0]) if package else None

    def _found(self, folder: str) -> tuple[str, str]:
        names: list[str] = []
        while self._is_package(folder):
            folder, name = os.path.split(folder)
            names.insert(0, name)
        return folder, ".".join(names)

    def _is_package(self, folder: str) -> bool:
        if folder in self._roots:
            return False
        if os.path.exists(os.path.join(folder, "__init__.py")):
            return True
        # An import statement cannot name such a folder, so it is a folder of scripts.
        name = os.path.basename(folder)
        return name.isidentifier() and any(folder.startswith(os.path.join(root, "")) for root in self._roots)
