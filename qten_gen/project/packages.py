"""Which folders are packages, and what modules in them are called.

A folder with an `__init__.py` is a package. So is each folder below a root, which is a folder that modules are imported from:
without an `__init__.py` it is a namespace package. In any other folder the files are modules of their own, as they are for Python
when one of them is run.
"""

import os
from collections.abc import Sequence


class Packages:
    """The packages that folders are. What was found out about a folder is remembered."""

    def __init__(self, roots: Sequence[str] = ()) -> None:
        self._roots = frozenset(os.path.abspath(root) for root in roots)
        self._known: dict[str, tuple[str, str]] = {}

    def of(self, folder: str) -> tuple[str, str]:
        """The folder that modules in `folder` are imported from, as an absolute path, and the dotted name of the package.

        The name is empty where the folder is no package.
        """
        if folder not in self._known:
            absolute = os.path.abspath(folder)
            self._known[folder] = self._found(absolute) if absolute == folder else self.of(absolute)
        return self._known[folder]

    def outermost(self, folder: str) -> str | None:
        """The top-level package that a folder belongs to, None for a folder that is no package."""
        root, package = self.of(folder)
        return os.path.join(root, package.partition(".")[0]) if package else None

    def _found(self, folder: str) -> tuple[str, str]:
        if not self._is_package(folder):
            return folder, ""
        parent, name = os.path.split(folder)
        root, package = self.of(parent)
        return root, f"{package}.{name}".lstrip(".")

    def _is_package(self, folder: str) -> bool:
        if folder in self._roots:
            return False
        if os.path.exists(os.path.join(folder, "__init__.py")):
            return True
        # A name that no import statement can spell is that of a folder with scripts.
        name = os.path.basename(folder)
        return name.isidentifier() and any(folder.startswith(os.path.join(root, "")) for root in self._roots)
