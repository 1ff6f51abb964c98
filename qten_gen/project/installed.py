"""Finds the files of installed libraries, without importing anything."""

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from .distributions import listed, search_path
from .libraries import module_in
from .paths import read_regular


class ModuleFile(NamedTuple):
    """The file of a module. Where a library has a stub beside a source, it is the stub, which is what checkers read."""

    name: str
    """The dotted name: `torch.nn.modules.linear`."""
    path: str
    is_package: bool

    @property
    def shown(self) -> str:
        """The path below the folder that the library is imported from: `torch/nn/modules/linear.py`."""
        steps = self.name.count(".") + 1 + self.is_package
        return "/".join(self.path.replace(os.sep, "/").split("/")[-steps:])


class Installed:
    """The libraries of an environment: that of the running interpreter, or the folder of a virtual one."""

    def __init__(self, environment: str | None = None) -> None:
        self.environment = environment
        self._folders: tuple[str, ...] = ()
        self._found: dict[str, ModuleFile | None] = {}
        self._tops: dict[str, str | None] = {}

    def find(self, module: str) -> ModuleFile | None:
        """The file of a module; None where it is not installed, or compiled."""
        if module not in self._found:
            self._found[module] = self._search(module)
        return self._found[module]

    def below(self, package: str) -> Iterator[ModuleFile]:
        """A module and, for a package, all modules in it. Folders without an `__init__.py` are left out."""
        found = self.find(package)
        if found is None:
            return
        yield found
        for child in self.children(package):
            yield from self.below(child.name)

    def children(self, package: str) -> Iterator[ModuleFile]:
        """The modules in a package."""
        found = self.find(package)
        if found is not None and found.is_package:
            # A folder has no suffix.
            stems = (name.rpartition(".")[0] or name for name in listed(os.path.dirname(found.path)))
            for stem in dict.fromkeys(stems):
                if stem.isidentifier() and stem not in ("__init__", "__main__", "__pycache__"):
                    child = self.find(f"{package}.{stem}")
                    if child is not None:
                        yield child

    def has(self, module: str) -> bool:
        """Whether there is such a module, compiled ones and folders without an `__init__.py` included."""
        parent, _, name = module.rpartition(".")
        package = self.find(parent)
        if package is None or not package.is_package:
            return False
        folder = os.path.dirname(package.path)
        return any(entry.partition(".")[0] == name and entry != f"{name}.txt" for entry in listed(folder))

    def version(self, module: str) -> str:
        """The version of the distribution that a module belongs to; empty where the metadata does not say."""
        top = module.partition(".")[0]
        root = self._root(top)
        if root is None:
            return ""
        names = [name for name in listed(root) if name.endswith(".dist-info")]
        # The folder of most distributions is called like their module.
        names.sort(key=lambda name: _normal(name.partition("-")[0]) != _normal(top))
        for name in names:
            if _normal(name.partition("-")[0]) == _normal(top) or _installs(os.path.join(root, name), top):
                return name.removesuffix(".dist-info").partition("-")[2]
        return ""

    def _search(self, module: str) -> ModuleFile | None:
        root = self._root(module.partition(".")[0])
        found = None if root is None else module_in(root, module)
        if found is None:
            return None
        stub = os.path.splitext(found.path)[0] + ".pyi"
        path = stub if os.path.isfile(stub) else found.path
        return ModuleFile(module, path, found.origin.is_package)

    def _root(self, top: str) -> str | None:
        """The folder that a top-level module is imported from."""
        if not self._folders:
            sites, roots = search_path(self.environment)
            self._folders = (*roots, *sites)
        if top not in self._tops:
            self._tops[top] = next((folder for folder in self._folders if module_in(folder, top)), None)
        return self._tops[top]


def _installs(folder: str, top: str) -> bool:
    """Whether a distribution installs a top-level module, by its record."""
    try:
        record = read_regular(os.path.join(folder, "RECORD"))
    except OSError:
        return False
    return record.startswith(f"{top}/".encode()) or f"\n{top}/".encode() in record


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
