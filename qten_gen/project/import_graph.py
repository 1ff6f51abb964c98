"""The graph of imports between sources, which decides which files may be parsed.

Parsing takes nearly all the time of a run, so only files that can affect a declaration are parsed. A declaration derives from
TensorClass or Module, directly or through classes of other files. It may use type aliases and constants of other files. A handler
may be registered for a Module in any file. These files are relevant:

1. A file that mentions `qten_gen`, or derives from a class of a generated module.
2. A file that imports one of these, directly or indirectly, and has a class with bases, a `.register(` or a `replace(`
   with keywords.
3. A file that has outputs, even if it does not seem to declare anything: otherwise a half-typed line would delete its outputs.
4. A file that a relevant file imports, if it imports a file of rule 1 or one that may define type aliases or constants (directly
   or indirectly), if a base of a class or a star import comes from it, or if it reexports an imported name.

Of these, a run reads the files that its targets depend on (see `generate.readings`).
"""

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from os.path import join, split
from typing import NamedTuple

from ..common.naming import source_module
from .scan import Origin, Scan, scan


class ImportMismatch(NamedTuple):
    """A file that seems to be part of a package."""

    evidence: str
    """Why it seems so, for the message."""
    root: str = ""
    """The folder that the package seems to be imported from; empty if it is not known."""


def _import_mismatches(
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
    for name in sorted({name for found_in in scans.values() for name in found_in.imports} - known):
        spelled = source_module(name) or name
        leading, _, rest = spelled.partition(".")
        while rest and spelled not in known:
            for path in modules.get(rest, ()):
                root = _above(origins[path].root, leading.split("."))
                if root is not None:
                    # The same one in every run.
                    importer = min(other for other, found_in in scans.items() if name in found_in.imports)
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


class SourceGraph(NamedTuple):
    """All sources of a run and their imports. A run creates one graph and passes it on.

    The keys of the mappings are paths; `origins`, `scans` and `imports` have an entry for every source.
    """

    origins: Mapping[str, Origin]
    """The modules of the sources."""
    scans: Mapping[str, Scan]
    """The results of scanning their bytes."""
    imports: Mapping[str, tuple[str, ...]]
    """The sources that each source imports."""
    imported: frozenset[str]
    """The sources that another source imports."""
    relevant: frozenset[str]
    """The sources that can affect a declaration."""
    modules: "Modules"
    """The sources by module name."""
    mismatches: Mapping[str, ImportMismatch]
    """The relevant sources that are imported under another module name than their origin has."""
    heads: frozenset[str]
    """The first parts of the module names of all relevant sources."""
    unresolved: Mapping[str, frozenset[str]] = {}
    """For each source that imports modules which cannot be found anywhere, the names of these."""

    def view(self, path: str) -> "View":
        """The view from a source."""
        origin = self.origins[path]
        is_hidden = self.modules.below(origin.root, origin.module) != path
        return View(origin.root, origin.module, path) if is_hidden else View(origin.root)

    def relevant_file(self, view: "View", module: str) -> str | None:
        """The relevant source that a module name refers to; None without one."""
        if view.path and module == view.module:
            return view.path
        path = self.modules.below(view.root, module)
        return path if path in self.relevant else None

    def files(self, path: str, lookups: Iterable[str]) -> list[str]:
        """The files whose content a source with these look-ups depends on (see `link.lookups`)."""
        view = self.view(path)
        modules = {name for name in lookups if name[0] != "?" and name[-1] != "."}
        found = (self.relevant_file(view, module) for module in sorted(modules))
        return [other for other in found if other is not None]


class View(NamedTuple):
    """Where module names are looked up from: the folder that a program is imported from.

    A source whose name means another one, such as `model.py` beside `model/__init__.py`, has a view of its own.
    """

    root: str
    module: str = ""
    path: str = ""


def source_graph(
    origins: Mapping[str, Origin],
    scans: Mapping[str, Scan],
    generated: Collection[str] = (),
    modules: "Modules | None" = None,
) -> SourceGraph:
    """Build the graph. Both mappings have the same keys.

    `generated` are the paths of files that have outputs, and `modules` the sources by module name, if they are known.
    """
    modules = modules or Modules.of(origins)
    imports = {path: modules.find(origins[path], found.imports) for path, found in scans.items()}
    imported = frozenset(target for path, targets in imports.items() for target in targets if target != path)
    relevant = frozenset(_relevant(scans, imports, modules, origins, generated))
    mismatches = _import_mismatches(origins, scans, sorted(relevant))
    heads = frozenset(origins[path].module.partition(".")[0] for path in relevant)
    return SourceGraph(origins, scans, imports, imported, relevant, modules, mismatches, heads)


def graph_from_texts(sources: Mapping[str, bytes], generated: Collection[str] = ()) -> SourceGraph:
    """Build the graph from the bytes of the sources. A folder is a package if its `__init__.py` is one of them.

    >>> graph_from_texts({"a.py": b"import b, qten_gen", "b.py": b"x = 1"}).imports
    {'a.py': ('b.py',), 'b.py': ()}
    """
    origins = {path: _origin(path, sources.keys()) for path in sources}
    return source_graph(origins, {path: scan(data, origins[path]) for path, data in sources.items()}, generated)


def _origin(path: str, known: Collection[str]) -> Origin:
    """The module of a file, derived from the paths of all files."""
    folder, name = split(path)
    stem = name.removesuffix(".py")
    parts = [] if stem == "__init__" else [stem]
    while join(folder, "__init__.py") in known:
        folder, name = split(folder)
        parts.insert(0, name)
    return Origin(folder, ".".join(parts), stem == "__init__")


class Modules(NamedTuple):
    """The files by module name.

    A name refers to the module below the same root. Without one, it refers to the only module of that name in the project, or
    else outside the project. The name of a module of the standard library refers to nothing below another root: there, an import
    finds Python's own. The name of a generated module, `shop.model_qten`, refers to the file that it is made from.
    """

    local: dict[tuple[str, str], str]
    anywhere: dict[str, str | None]
    """It has all names."""

    @classmethod
    def of(cls, origins: Mapping[str, Origin], outside: Collection[str] = ()) -> "Modules":
        local: dict[tuple[str, str], str] = {}
        anywhere: dict[str, str | None] = {}
        others: dict[str, str | None] = {}
        for path, origin in sorted(origins.items()):
            local[origin.root, origin.module] = path
            known = others if path in outside else anywhere
            known[origin.module] = None if origin.module in known else path
        return cls(local, {**others, **anywhere})

    def find(self, origin: Origin, names: Iterable[str]) -> tuple[str, ...]:
        """The files that these module names refer to in a file at `origin`."""
        found = [self.below(origin.root, name) for name in names if name in self.anywhere or name.endswith("_qten")]
        return tuple([path for path in found if path is not None])

    def passing(self, origin: Origin, names: Iterable[str], scans: Mapping[str, Scan]) -> Iterator[str]:
        """The files that reexport a name which a file imports from them: `shop.common` for `shop.common.Tensor`."""
        for name in names:
            module, _, last = name.rpartition(".")
            path = next(iter(self.find(origin, (module,))), None)
            if path is not None and last in scans[path].binds:
                yield path

    def places(self, name: str) -> list[str]:
        """The files that have a name, where none is meant because there are several; empty for any other name."""
        name = name if name in self.anywhere else source_module(name)
        if name not in self.anywhere or self.anywhere[name] is not None:
            return []
        return [path for (_, module), path in self.local.items() if module == name]

    def possible(self, origin: Origin, names: Iterable[str]) -> Iterator[str]:
        """The files that these names may refer to in a file at `origin`, because there are several of a name."""
        for name in names:
            if not self.is_known(origin.root, name):
                yield from self.places(name)

    def is_known(self, root: str, name: str) -> bool:
        """True if it is known which file a name refers to in files below a root."""
        known = (root, name) in self.local or self.anywhere.get(name) is not None
        source = "" if known else source_module(name)
        return known or (bool(source) and self.is_known(root, source))

    def below(self, root: str, name: str) -> str | None:
        """The file that a name refers to in files below a root."""
        found = self.local.get((root, name))
        if found is None and name.partition(".")[0] not in sys.stdlib_module_names:
            found = self.anywhere.get(name)
        if found is None and (source := source_module(name)):
            found = self.below(root, source)
        return found


def _relevant(
    scans: Mapping[str, Scan],
    imports: Mapping[str, tuple[str, ...]],
    modules: Modules,
    origins: Mapping[str, Origin],
    generated: Collection[str],
) -> set[str]:
    """The relevant files, according to the rules in the docstring of this module."""
    if (
        None in modules.anywhere.values()
    ):  # a base in several places is reported, so the file of the class has to be read
        possible = {path: tuple(modules.possible(origins[path], found.imports)) for path, found in scans.items()}
        imports = {path: (*found, *possible[path]) for path, found in imports.items()}
    importers = importers_of(imports)

    def needed(path: str) -> Iterator[str]:
        yield from (target for target in imports[path] if target in leading)
        yield from modules.find(origins[path], scans[path].bases)
        yield from modules.passing(origins[path], scans[path].imports, scans)

    mentioning = {path for path, scan in scans.items() if scan.mentions}
    deriving = {path for path in closure(mentioning, importers.__getitem__) if scans[path].derives or scans[path].calls}
    leading = closure(mentioning | {path for path, scan in scans.items() if scan.aliases}, importers.__getitem__)
    return closure(mentioning | deriving | (scans.keys() & set(generated)), needed)


def importers_of(imports: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    """For each file, the files that import it."""
    importers: dict[str, list[str]] = {path: [] for path in imports}
    for path, targets in imports.items():
        for target in targets:
            importers[target].append(path)
    return importers


def closure(start: Iterable[str], edges: Callable[[str], Iterable[str]]) -> set[str]:
    """Everything that can be reached from `start`. `edges` returns the neighbours of an item."""
    seen = set(start)
    waiting = list(seen)
    while waiting:
        for target in edges(waiting.pop()):
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return seen
