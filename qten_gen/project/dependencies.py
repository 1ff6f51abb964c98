"""Follows imports out of a project: to other source roots, to folders above it, and into installed libraries that declare."""

import os
import sys
from collections.abc import Collection, Iterator, Mapping

from .config import Config
from .files import Source
from .import_graph import Modules
from .libraries import OWN_PACKAGES, Libraries, Module, module_in
from .output_names import is_output
from .paths import display_path
from .scan import Origin, Scan


class Dependencies:
    """Finds the files that imports lead to and that are not listed yet."""

    def __init__(self, config: Config) -> None:
        root = config.root
        environment = None if root is None or config.environment is None else os.path.join(root, config.environment)
        roots = () if root is None else (*config.import_roots, root)
        self._libraries = Libraries(environment, roots)
        self._has_root = root is not None
        self._followed: set[str] = set()
        self.unreadable: set[str] = set()
        """Files that exist but cannot be read."""
        self._above: dict[tuple[str, str], Module | None] = {}

    def missing(
        self, origins: Mapping[str, Origin], scans: Mapping[str, Scan], outside: Collection[str]
    ) -> dict[str, Source]:
        """The files that are imported by those scanned, and not among them. They may import others in turn."""
        modules = Modules.of(origins, outside)
        mentioned = {name for path, scan in scans.items() for name in scan.imports if path not in self._followed}
        unknown = {name for name in mentioned if modules.anywhere.get(name) is None}
        found: dict[str, Source] = {}
        for path in scans.keys() - self._followed:
            self._followed.add(path)
            for name in unknown.intersection(scans[path].imports):
                if modules.file(origins[path], name) is None:
                    for module in self._with_parents(name, origins[path]):
                        shown = display_path(module.path)
                        if shown not in origins and shown not in found and not is_output(shown):
                            found.update(_sources(shown, module))
        return found

    def _with_parents(self, name: str, origin: Origin) -> Iterator[Module]:
        """A module, and the packages around it, which may reexport what is in it."""
        found = self._find(name, origin)
        if found is not None:
            yield found
            parent, _, _ = name.rpartition(".")
            if parent:
                yield from self._with_parents(parent, origin)

    def _find(self, name: str, origin: Origin) -> Module | None:
        """The file of a module that a file imports."""
        if name.partition(".")[0] in OWN_PACKAGES:
            return None
        return self._libraries.find(name, origin.root) or (None if self._has_root else self._find_above(name, origin))

    def _find_above(self, name: str, origin: Origin) -> Module | None:
        """The module in the nearest folder above the importing file that has it. Used without a `pyproject.toml`."""
        if name.partition(".")[0] in sys.stdlib_module_names:
            return None
        key = origin.root, name
        if key not in self._above:
            folder, found = origin.root, None
            while found is None and os.path.dirname(folder) != folder:
                folder = os.path.dirname(folder)
                found = module_in(folder, name)
            self._above[key] = found
        return self._above[key]

    def unfound(
        self, origins: Mapping[str, Origin], scans: Mapping[str, Scan], outside: Collection[str]
    ) -> dict[str, frozenset[str]]:
        """For each file of the project with derived classes, the modules that it imports and that are nowhere."""
        modules = Modules.of(origins, outside)
        found = {}
        for path, scan in scans.items():
            if scan.derives and path not in outside:
                # A name with another below it is a module, and not something in one.
                certain = {name.rpartition(".")[0] for name in scan.imports} & set(scan.imports)
                lost = frozenset(name for name in certain if self._is_lost(name, origins[path], modules))
                if lost:
                    found[path] = lost
        return found

    def _is_lost(self, name: str, origin: Origin, modules: Modules) -> bool:
        """Whether no module of a name can be found, or its file cannot be read."""
        if modules.file(origin, name) is not None:
            return False
        found = self._find(name, origin)
        if found is not None:
            return display_path(found.path) in self.unreadable
        return not self._libraries.has(name, origin.root)


def _sources(path: str, module: Module) -> Iterator[tuple[str, Source]]:
    try:
        status = os.stat(module.path)
    except OSError:
        return
    yield path, Source(module.origin, (status.st_size, status.st_mtime_ns), target=False, outside=True)
