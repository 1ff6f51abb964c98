"""Finds the modules of installed libraries that may make TensorClasses, without importing anything.

Such a library depends on qten-gen, and its metadata says so. Only such libraries are looked into, so that a
project that imports torch or numpy is as fast as one that does not. They are found in the folder `site-packages` of the running
interpreter or of the environment in the settings, or where an editable installation points: a path file, or the mapping in a
finder. Of folders without metadata, as in PYTHONPATH, a package that mentions qten-gen counts.
"""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from .distributions import declaring, listed, search_path
from .paths import read_regular
from .scan import Origin

OWN_PACKAGES = frozenset({"qten_gen", "qten_gen_typing"})

_MOST_FILES = 500
"""How many files of a package without metadata are searched for a mention of qten-gen."""


class Module(NamedTuple):
    """The file of a module: its source, or its stub where there is no source."""

    path: str
    origin: Origin


class Libraries:
    """The modules that can be imported from folders outside a project.

    `environment` is the folder of a virtual environment, or None for the running interpreter. `roots` are folders that modules
    are imported from as well, and every module in them counts.
    """

    def __init__(self, environment: str | None = None, roots: Iterable[str] = ()) -> None:
        self._roots = tuple(dict.fromkeys(os.path.abspath(root) for root in roots))
        self._environment = environment
        self._places: Mapping[str, tuple[str, ...]] | None = None
        self._plain_roots: tuple[str, ...] = ()
        self._sites: tuple[str, ...] = ()
        self._mentioning: dict[str, bool] = {}
        self._listings: dict[str, frozenset[str]] = {}
        self._found: dict[tuple[str, str], Module | None] = {}

    def find(self, module: str, root: str = "") -> Module | None:
        """The module, if a library that declares has it; `root` is the folder that the importing file is imported from."""
        key = root, module
        if key not in self._found:
            self._found[key] = self._search(module, root)
        return self._found[key]

    def has(self, module: str, root: str) -> bool:
        """Whether a module seems to exist at all: compiled modules, libraries that do not declare, and namespace packages too."""
        top, _, rest = module.partition(".")
        if top in OWN_PACKAGES or top in sys.stdlib_module_names or top in sys.builtin_module_names:
            return True
        declaring = self._look_around().get(top, ())
        own = (root, *self._roots, *declaring)
        others = (*self._plain_roots, *self._sites)
        if rest and not declaring and not any(top in self.tops_in(folder) for folder in own):
            # What is inside a library that does not declare is its own affair.
            return any(top in self.tops_in(folder) for folder in others)
        parent, _, last = module.rpartition(".")
        folders = (*own, *others)
        return any(last in self.tops_in(os.path.join(folder, *filter(None, parent.split(".")))) for folder in folders)

    def tops_in(self, folder: str) -> frozenset[str]:
        """The modules that a folder may have: packages, sources, stubs and compiled modules."""
        if folder not in self._listings:
            names = (name.removesuffix("-stubs").partition(".")[0] for name in listed(folder))
            self._listings[folder] = frozenset(names)
        return self._listings[folder]

    def _search(self, module: str, own: str) -> Module | None:
        """The module in the nearest place: below its own root, a given root, a library's folder, or a folder without metadata."""
        top = module.partition(".")[0]
        for root in (own, *self._roots) if own else self._roots:
            # One listing saves a look for each module.
            if top in self.tops_in(root) and (found := module_in(root, module)):
                return found
        # Behind the roots: a module of the project may hide one of Python's.
        if top in sys.stdlib_module_names or top in OWN_PACKAGES:
            return None
        for root in self._look_around().get(top, ()):
            if found := module_in(root, module):
                return found
        for root in self._plain_roots:
            if (
                top in self.tops_in(root)
                and self._mentions(os.path.join(root, top))
                and (found := module_in(root, module))
            ):
                return found
        return None

    def _look_around(self) -> Mapping[str, tuple[str, ...]]:
        """The folders that each top-level module of a declaring library is imported from."""
        if self._places is None:
            sites, roots = search_path(self._environment)
            places: dict[str, list[str]] = {}
            for site in sites:
                for top, root in declaring(site):
                    places.setdefault(top, []).append(root)
            self._places = {top: tuple(dict.fromkeys(folders)) for top, folders in places.items()}
            self._plain_roots, self._sites = roots, sites
        return self._places

    def _mentions(self, package: str) -> bool:
        """Whether a package or module without metadata mentions qten-gen."""
        if package not in self._mentioning:
            self._mentioning[package] = any(b"qten_gen" in data for data in _texts(package))
        return self._mentioning[package]


def module_in(root: str, module: str) -> Module | None:
    """The source or stub of a module below a folder."""
    for path, is_package in candidates(root, module):
        if os.path.isfile(path):
            return Module(path, Origin(root, module, is_package))
    return None


def candidates(root: str, module: str) -> Iterator[tuple[str, bool]]:
    """The paths that a module may have below a folder, the first one that exists counts, and whether it is a package there."""
    base = os.path.join(root, *module.split("."))
    stubs = os.path.join(root, f"{module.partition('.')[0]}-stubs", *module.split(".")[1:])
    for start, suffix in ((base, ".py"), (base, ".pyi"), (stubs, ".pyi")):
        yield os.path.join(start, f"__init__{suffix}"), True
        yield start + suffix, False


def _texts(package: str) -> Iterator[bytes]:
    """The sources of a package or module, not more than a few hundred."""
    files = [package + ".py", package + ".pyi"]
    for folder, folders, names in os.walk(package):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__")))
        files += [os.path.join(folder, name) for name in sorted(names) if name.endswith((".py", ".pyi"))]
        if len(files) > _MOST_FILES:
            break
    for path in files[:_MOST_FILES]:
        try:
            yield read_regular(path)
        except OSError:
            continue
