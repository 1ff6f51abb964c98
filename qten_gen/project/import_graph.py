"""The sources of a run and the imports between them: which may matter to declarations, and which have to be read together.

Parsing is nearly the whole cost of a run, so a file is only parsed if it can matter. A declaration derives from TensorClass or
Module, directly or through classes of other files; its annotations may go through type aliases of other files; and a handler
may be registered with a Module anywhere. So:

1. every file that mentions `qten_gen` is relevant;
2. a file that imports one of these, over any number of steps, is relevant if it has a class with bases or a `.register(`;
3. a file that has outputs is relevant: whether it still declares is not guessed, lest a half-typed line cost it its outputs;
4. of what a relevant file imports, that is relevant which leads on, over any number of steps, to a file of rule 1 or to one
   that may define type aliases, that which a base of a class or a star import comes from, and that which passes a name on.

Relevant files that import each other form a group: the outputs of a file depend on nothing outside its group.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from os.path import join, split
from typing import NamedTuple

from .import_mismatch import ImportMismatch, find_import_mismatches
from .scan import Origin, Scan, scan


class SourceGraph(NamedTuple):
    """All sources that a run knows of. It is made once in a run and handed on.

    The keys of the mappings are paths; `origins`, `scans` and `imports` have an entry for every source.
    """

    origins: Mapping[str, Origin]
    """The modules that the sources are."""
    scans: Mapping[str, Scan]
    """What a look at their bytes told."""
    imports: Mapping[str, tuple[str, ...]]
    """The sources that each imports."""
    imported: frozenset[str]
    """The sources that another one imports."""
    groups: tuple[tuple[str, ...], ...]
    """The relevant sources, those together that have to be read together: sorted groups of sorted paths."""
    mismatches: Mapping[str, ImportMismatch]
    """The relevant sources that are imported by another name than that of their origin."""


def source_graph(
    origins: Mapping[str, Origin], scans: Mapping[str, Scan], generated: Collection[str] = ()
) -> SourceGraph:
    """The graph of sources. Both mappings have the same keys; `generated` are the paths of files that have outputs."""
    modules = _Modules.of(origins)
    imports = {path: modules.find(origins[path], found.imports) for path, found in scans.items()}
    imported = frozenset(target for path, targets in imports.items() for target in targets if target != path)
    groups = _groups(_relevant(scans, imports, modules, origins, generated), imports)
    mismatches = find_import_mismatches(origins, scans, [path for group in groups for path in group])
    return SourceGraph(origins, scans, imports, imported, groups, mismatches)


def graph_from_texts(sources: Mapping[str, bytes], generated: Collection[str] = ()) -> SourceGraph:
    """The graph of sources that are at hand as bytes: a folder is a package if its `__init__.py` is among them.

    >>> graph_from_texts({"a.py": b"import b, qten_gen", "b.py": b"x = 1"}).imports
    {'a.py': ('b.py',), 'b.py': ()}
    """
    origins = {path: _origin(path, sources.keys()) for path in sources}
    return source_graph(origins, {path: scan(data, origins[path]) for path, data in sources.items()}, generated)


def _origin(path: str, known: Collection[str]) -> Origin:
    """The module that a file is, judged by the paths of the others."""
    folder, name = split(path)
    stem = name.removesuffix(".py")
    parts = [] if stem == "__init__" else [stem]
    while join(folder, "__init__.py") in known:
        folder, name = split(folder)
        parts.insert(0, name)
    return Origin(folder, ".".join(parts), stem == "__init__")


class _Modules(NamedTuple):
    """The files by the modules that they are.

    A name means the module of the same root, or else the only one that is called so.
    """

    local: dict[tuple[str, str], str]
    anywhere: dict[str, str | None]

    @classmethod
    def of(cls, origins: Mapping[str, Origin]) -> "_Modules":
        local: dict[tuple[str, str], str] = {}
        anywhere: dict[str, str | None] = {}
        for path, origin in sorted(origins.items()):
            local[origin.root, origin.module] = path
            anywhere[origin.module] = None if origin.module in anywhere else path
        return cls(local, anywhere)

    def find(self, origin: Origin, names: Iterable[str]) -> tuple[str, ...]:
        """The files that a file at `origin` means by these names."""
        found = (self._file(origin, name) for name in names)
        return tuple(path for path in found if path is not None)

    def passing(self, origin: Origin, names: Iterable[str], scans: Mapping[str, Scan]) -> Iterator[str]:
        """The files that pass a name on which a file imports from them: `shop.common` for `shop.common.Tensor`."""
        for name in names:
            module, _, last = name.rpartition(".")
            path = self._file(origin, module)
            if path is not None and last in scans[path].binds:
                yield path

    def _file(self, origin: Origin, name: str) -> str | None:
        return self.local.get((origin.root, name)) or self.anywhere.get(name)


def _relevant(
    scans: Mapping[str, Scan],
    imports: Mapping[str, tuple[str, ...]],
    modules: _Modules,
    origins: Mapping[str, Origin],
    generated: Collection[str],
) -> set[str]:
    """The relevant files, by the four rules of this module's docstring."""
    importers = importers_of(imports)

    def needed(path: str) -> Iterator[str]:
        yield from (target for target in imports[path] if target in leading)
        yield from modules.find(origins[path], scans[path].bases)
        yield from modules.passing(origins[path], scans[path].imports, scans)

    mentioning = {path for path, scan in scans.items() if scan.mentions}
    deriving = {
        path for path in closure(mentioning, importers.__getitem__) if scans[path].derives or scans[path].registers
    }
    leading = closure(mentioning | {path for path, scan in scans.items() if scan.aliases}, importers.__getitem__)
    return closure(mentioning | deriving | (scans.keys() & set(generated)), needed)


def _groups(relevant: Collection[str], imports: Mapping[str, tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """The relevant files, those together that imports connect: the components of the graph, by union and find."""
    parent = {path: path for path in relevant}

    def find(path: str) -> str:
        while parent[path] != path:
            parent[path] = path = parent[parent[path]]
        return path

    for path in relevant:
        for other in imports[path]:
            if other in parent:
                parent[find(path)] = find(other)
    collected: dict[str, list[str]] = {}
    for path in sorted(relevant):
        collected.setdefault(find(path), []).append(path)
    return tuple(sorted(tuple(group) for group in collected.values()))


def importers_of(imports: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    """For each file, the files that import it."""
    importers: dict[str, list[str]] = {path: [] for path in imports}
    for path, targets in imports.items():
        for target in targets:
            importers[target].append(path)
    return importers


def closure(start: Iterable[str], edges: Callable[[str], Iterable[str]]) -> set[str]:
    """Everything that can be reached from `start`; `edges` gives what is next to something."""
    seen = set(start)
    waiting = list(seen)
    while waiting:
        for target in edges(waiting.pop()):
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return seen
