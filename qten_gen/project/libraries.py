"""Finds the modules of installed libraries, without importing anything, in the folders that Python searches.

Libraries that may make TensorClasses depend on qten-gen, and their metadata says so. Only these are looked into for
declarations, so that a project that imports torch or numpy is as fast as one that does not. Of folders without metadata, as in
PYTHONPATH or where an editable installation points, a package that mentions qten_gen counts.
"""

import fnmatch
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from .paths import read_regular, search_path
from .scan import Origin

OWN_PACKAGES = frozenset({"qten_gen", "qten_gen_typing"})
_OWN = "qten-gen"
"""The distribution on which libraries depend that may make TensorClasses."""
_USUAL_HEAD = 16384
"""How many bytes the fields of most files with metadata take at most."""
_MOST_FILES = 500
"""How many files of a package without metadata are searched for a mention of qten-gen."""


class Module(NamedTuple):
    """The file of a module: its source, or its stub where there is no source."""

    path: str
    origin: Origin


class Environment:
    """The folders that modules are imported from in the environment that qten-gen runs in."""

    def __init__(self) -> None:
        self._stems: dict[str, frozenset[str]] = {}

    @cached_property
    def sites(self) -> list[str]:
        """The folders that have metadata of distributions, or may get some."""
        return [
            folder
            for folder in search_path()
            if folder.endswith("-packages") or fnmatch.filter(listed(folder), "*.dist-info")
        ]

    @cached_property
    def others(self) -> list[str]:
        """The folders without metadata."""
        return [folder for folder in search_path() if folder not in self.sites]

    @cached_property
    def declaring(self) -> Mapping[str, list[str]]:
        """The top-level modules of libraries that may make TensorClasses, each with the folders that it is imported from."""
        places: dict[str, list[str]] = {}
        for site in self.sites:
            for top in {*_declaring(site)}:
                places.setdefault(top, []).append(site)
        return places

    def may_declare(self, top: str) -> bool:
        """True if a top-level module may hold declarations: one of a library that says so, or in a folder without metadata."""
        if top in sys.stdlib_module_names or top in OWN_PACKAGES:
            return False
        return top in self.declaring or bool(self.places(top))

    def places(self, top: str) -> list[str]:
        """The folders without metadata that have a top-level module, or the one that an editable installation maps it to."""
        found = [folder for folder in self.others if top in self.stems_in(folder)]
        if found or any(top in self.stems_in(folder) for folder in self.sites):
            return found
        finders = [each for each in sys.meta_path if "editable" in getattr(each, "__module__", "")]
        specs = [spec for finder in finders if (spec := finder.find_spec(top, None)) is not None]
        files = [(spec.origin, spec.submodule_search_locations) for spec in specs if spec.origin is not None]
        return [os.path.dirname(os.path.dirname(path) if is_package else path) for path, is_package in files]

    def stems_in(self, folder: str) -> frozenset[str]:
        """The modules that a folder may have: packages, sources, stubs and compiled modules, from one listing."""
        if folder not in self._stems:
            self._stems[folder] = frozenset(name.removesuffix("-stubs").partition(".")[0] for name in listed(folder))
        return self._stems[folder]


class Libraries:
    """The modules that can be imported from folders outside a project. Every module in the given roots counts, too."""

    def __init__(self, environment: Environment, roots: Iterable[str] = ()) -> None:
        self._environment = environment
        self._roots = tuple(dict.fromkeys(os.path.abspath(root) for root in roots))
        self._mentioning: dict[str, bool] = {}
        self._found: dict[tuple[str, str], Module | None] = {}

    def find(self, module: str, root: str = "") -> Module | None:
        """The module, if a library that declares has it; `root` is the folder that the importing file is imported from."""
        key = root, module
        if key not in self._found:
            folders = self._folders(module.partition(".")[0], root)
            self._found[key] = next(filter(None, (module_in(folder, module) for folder in folders)), None)
        return self._found[key]

    def _folders(self, top: str, own: str) -> Iterator[str]:
        """The folders that may have a module, the nearest first: its own root, a given one, a library's, one without metadata."""
        stems_in = self._environment.stems_in
        yield from (folder for folder in (own, *self._roots) if folder and top in stems_in(folder))
        # Behind the roots: a module of the project may hide one of Python's.
        if top not in sys.stdlib_module_names and top not in OWN_PACKAGES:
            yield from self._environment.declaring.get(top, ())
            places = self._environment.places(top)
            yield from (folder for folder in places if self._mentions(os.path.join(folder, top)))

    def has(self, module: str, root: str) -> bool:
        """True if a module seems to exist at all: compiled modules, libraries that do not declare, and namespace packages too."""
        parent, _, last = module.rpartition(".")
        top, _, rest = module.partition(".")
        if top in OWN_PACKAGES or top in sys.stdlib_module_names or top in sys.builtin_module_names:
            return True
        stems_in, declaring = self._environment.stems_in, self._environment.declaring.get(top, ())
        own = (root, *self._roots, *declaring)
        others = (*self._environment.places(top), *self._environment.sites)
        if rest and not declaring and not any(top in stems_in(folder) for folder in own):
            # What is inside a library that does not declare is its own affair.
            return any(top in stems_in(folder) for folder in others)
        inside = [os.path.join(folder, *filter(None, parent.split("."))) for folder in (*own, *others)]
        return any(last in stems_in(folder) and _has_modules(folder, last) for folder in inside)

    def _mentions(self, package: str) -> bool:
        """True if a package or module without metadata mentions qten-gen, as far as a few hundred files tell."""
        if package not in self._mentioning:
            files = [package + ".py", package + ".pyi"]
            for folder, folders, names in os.walk(package):
                folders[:] = sorted(name for name in folders if not name.startswith((".", "__")))
                files += [os.path.join(folder, name) for name in sorted(names) if name.endswith((".py", ".pyi"))]
                if len(files) > _MOST_FILES:
                    break
            self._mentioning[package] = any(b"qten_gen" in _data(path) for path in files[:_MOST_FILES])
        return self._mentioning[package]


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
    """All libraries of an environment, whether they declare or not."""

    def __init__(self) -> None:
        self._environment = Environment()
        self._found: dict[str, ModuleFile | None] = {}

    def find(self, module: str) -> ModuleFile | None:
        """The file of a module; None where it is not installed, or compiled."""
        if module not in self._found:
            root = self._root(module.partition(".")[0])
            found = None if root is None else module_in(root, module)
            if found is not None:
                stub = os.path.splitext(found.path)[0] + ".pyi"
                path = stub if os.path.isfile(stub) else found.path
                self._found[module] = ModuleFile(module, path, found.origin.is_package)
            else:
                self._found[module] = None
        return self._found[module]

    def below(self, package: str) -> Iterator[ModuleFile]:
        """A module and, for a package, all modules in it. Folders without an `__init__.py` are left out."""
        found = self.find(package)
        if found is not None:
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
        """True if there is such a module, compiled ones and folders without an `__init__.py` included."""
        parent, _, name = module.rpartition(".")
        package = self.find(parent)
        if package is None or not package.is_package:
            return False
        folder = os.path.dirname(package.path)
        return any(entry.partition(".")[0] == name and entry != f"{name}.txt" for entry in listed(folder))

    def version(self, module: str) -> str:
        """The version of the distribution that a module belongs to; empty where the metadata does not say."""
        from importlib.metadata import distributions

        top = module.partition(".")[0]
        found = distributions(name=top, path=[self._root(top) or ""])
        return next((each.version for each in found), "")

    def _root(self, top: str) -> str | None:
        """The folder that a top-level module is imported from."""
        folders = (*self._environment.others, *self._environment.sites)
        return next((folder for folder in folders if module_in(folder, top)), None)


def module_in(root: str, module: str) -> Module | None:
    """The source or stub of a module below a folder; of several, a package wins, and a source over a stub."""
    base = os.path.join(root, *module.split("."))
    stubs = os.path.join(root, f"{module.partition('.')[0]}-stubs", *module.split(".")[1:])
    for start, suffix in ((base, ".py"), (base, ".pyi"), (stubs, ".pyi")):
        for path, is_package in ((os.path.join(start, f"__init__{suffix}"), True), (start + suffix, False)):
            if os.path.isfile(path):
                return Module(path, Origin(root, module, is_package))
    return None


def _declaring(site: str) -> Iterator[str]:
    """The top-level modules of the libraries in a folder that depend on qten-gen, also through others."""
    heads = {name: _head(os.path.join(site, name, "METADATA")) for name in listed(site) if name.endswith(".dist-info")}
    if not any(b"qten" in head.lower() for name, head in heads.items() if not name.lower().startswith("qten_gen-")):
        return  # most environments; the rest takes longer
    requirements: dict[str, set[str]] = {}
    folders: dict[str, str] = {}
    for entry, data in heads.items():
        head = data.decode("utf-8", "replace")
        named = re.search(r"(?m)^Name:\s*(\S+)", head)
        if named is not None:
            own = _normal(named[1])
            folders[own] = entry
            requirements[own] = {_normal(item) for item in re.findall(r"(?m)^Requires-Dist:\s*([\w.-]+)", head)}
    depending = {_OWN}
    while more := {name for name, needed in requirements.items() if needed & depending} - depending:
        depending |= more
    for name in sorted((depending - {_OWN}) & folders.keys()):
        yield from _tops(site, folders[name])


def _tops(site: str, entry: str) -> Iterator[str]:
    """The top-level modules that a distribution installs."""
    for line in _data(os.path.join(site, entry, "RECORD")).decode("utf-8", "replace").splitlines():
        path = line.partition(",")[0].strip('"')
        top, _, rest = path.partition("/")
        stem = top.removesuffix("-stubs") if rest else top.removesuffix(".pyi").removesuffix(".py")
        if stem.isidentifier():
            yield stem


def _has_modules(folder: str, name: str) -> bool:
    """True unless what a folder has of a name is a folder without Python files, at any depth."""
    path = os.path.join(folder, name)
    if not os.path.isdir(path) or any(entry.startswith(f"{name}.") for entry in listed(folder)):
        return True
    return any(file.endswith((".py", ".pyi", ".so", ".pyd")) for _, _, files in os.walk(path) for file in files)


def listed(folder: str) -> list[str]:
    """The names in a folder; none if it cannot be listed."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _data(path: str, size: int = -1) -> bytes:
    """The bytes of a file, or the first ones; empty if it cannot be read."""
    try:
        return read_regular(path, size)
    except OSError:
        return b""


def _head(path: str) -> bytes:
    """The fields of a file with metadata, without the description below, which is most of it."""
    start = _data(path, _USUAL_HEAD).replace(b"\r\n", b"\n")
    head, blank, _ = start.partition(b"\n\n")
    return head if blank else _data(path).replace(b"\r\n", b"\n").partition(b"\n\n")[0]


def _normal(name: str) -> str:
    """The name of a distribution as metadata compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()
