"""Follows imports out of a project: to other source roots, to folders above it, and into installed libraries that declare."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping

from ..common.naming import source_module
from .cache import Stat
from .config import Config
from .files import Source
from .import_graph import Modules
from .libraries import OWN_PACKAGES, Environment, Libraries, Module
from .output_names import is_output
from .paths import display_path
from .scan import Origin, Scan


class Dependencies:
    """Finds the files that imports lead to and that are not listed yet."""

    def __init__(self, config: Config) -> None:
        around = () if config.has_file else (os.getcwd(),)
        self._libraries = Libraries(Environment(), (*config.import_roots, config.root, *around))
        self._followed: set[str] = set()
        self.unreadable: set[str] = set()
        """Files that exist but cannot be read."""

    def missing(self, origins: Mapping[str, Origin], scans: Mapping[str, Scan], modules: Modules) -> dict[str, Source]:
        """The files that are imported by those scanned, and not among them. They may import others in turn."""
        fresh = scans.keys() - self._followed
        self._followed |= fresh
        found: dict[str, Source] = {}
        for root, names in _imports_by_root(fresh, origins, scans).items():
            for name in names:
                if not modules.is_known(root, name):
                    for module in self._with_parents(name, root):
                        shown = display_path(module.path)
                        if shown not in origins and shown not in found:
                            found.update(_sources(shown, module))
        return found

    def _with_parents(self, name: str, root: str) -> Iterator[Module]:
        """A module, and the packages around it, which may reexport what is in it."""
        found = self._find(name, root)
        if found is not None:
            yield found
            parent, _, _ = name.rpartition(".")
            if parent:
                yield from self._with_parents(parent, root)

    def _find(self, name: str, root: str) -> Module | None:
        """The file of a module that a file imports; of a generated one, the file that it is made from."""
        if name.partition(".")[0] in OWN_PACKAGES:
            return None
        found = self._libraries.find(name, root)
        if found is not None and not is_output(found.path):
            return found
        source = source_module(name)
        return self._find(source, root) if source else None

    def unresolved(
        self, origins: Mapping[str, Origin], scans: Mapping[str, Scan], outside: Collection[str], modules: Modules
    ) -> dict[str, frozenset[str]]:
        """For each file of the project with derived classes, the modules that it imports and that are nowhere."""
        deriving = [path for path, scan in scans.items() if scan.derives and path not in outside]
        lost: dict[str, frozenset[str]] = {}
        for root, names in _imports_by_root(deriving, origins, scans).items():
            # A name with another below it is a module, and not something in one.
            certain = names.intersection({name.rpartition(".")[0] for name in names})
            lost[root] = frozenset(name for name in certain if self._is_lost(name, root, modules, origins))
        pairs = ((path, lost[origins[path].root]) for path in deriving if lost[origins[path].root])
        return {path: missing for path, names in pairs if (missing := names.intersection(scans[path].imports))}

    def _is_lost(self, name: str, root: str, modules: Modules, origins: Mapping[str, Origin]) -> bool:
        """True if no module of a name can be found, or only a file that cannot be read or that is another module here."""
        if modules.is_known(root, name):
            return False
        found = self._find(name, root)
        if found is not None:
            shown = display_path(found.path)
            return shown in self.unreadable or shown in origins
        return not self._libraries.has(name, root)


def _imports_by_root(
    paths: Iterable[str], origins: Mapping[str, Origin], scans: Mapping[str, Scan]
) -> dict[str, set[str]]:
    """The imports of files, by the folder that they are imported from themselves."""
    found: dict[str, set[str]] = {}
    for path in paths:
        found.setdefault(origins[path].root, set()).update(scans[path].imports)
    return found


def _sources(path: str, module: Module) -> Iterator[tuple[str, Source]]:
    try:
        status = os.stat(module.path)
    except OSError:
        return
    yield path, Source(module.origin, Stat.of(status), target=False, outside=True)
