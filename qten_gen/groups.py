"""Which files may declare, and which of them have to be read together. No parsing, no disk.

Parsing is nearly the whole cost of a run, so a file is only parsed if it can matter. A declaration derives from TensorClass or
Module, directly or through classes of other files, and a handler is registered with a declared Module. So:

1. every file that mentions `qten_gen` matters;
2. a file that imports one that matters, over any number of steps, matters if it has a class with bases or a `.register(`;
3. a file between two that matter matters too, because it may pass names on (`__init__.py`);
4. a file that has outputs matters, and so does what it imports: whether it still declares is not guessed, lest a half-typed
   line, or one in a file that it derives from, cost it its outputs.

Imports are found with a regular expression: what stands in a string or a comment is found as well, which only costs time.
Files that matter and import each other form a group: the outputs of a file depend on nothing outside its group.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

_COMMENT = re.compile(r"#[^\n]*")
_FROM = re.compile(r"\bfrom\s+([.\w][.\w \t]*?)\s*(?:\\\r?\n\s*)?\bimport\b\s*(\([^)]*\)|(?:\\\r?\n|[^\n;])*)")
_IMPORT = re.compile(r"(?:^|[;:])[ \t]*import\s+((?:\\\r?\n|[^\n;])+)", re.MULTILINE)
_DERIVES = re.compile(r"^[ \t]*class\s+\w+\s*[\[(]|\.\s*register\s*\(", re.MULTILINE)
_NAME = re.compile(r"[.\w]+")


class Scan(NamedTuple):
    """What a look at the bytes of a file tells."""

    mentions: bool
    """It mentions `qten_gen`."""
    derives: bool
    """It has a class with bases or registers a handler."""
    imports: tuple[str, ...]
    """Dotted names of everything that may be a module it imports."""


class Origin(NamedTuple):
    """Where a file is imported from: its dotted name `module` below the folder `root`."""

    root: str
    module: str
    is_package: bool = False


def scan(data: bytes, origin: Origin) -> Scan:
    """Look through the bytes of a file."""
    text = data.decode("utf-8", "replace")
    code = _COMMENT.sub("", text)
    package = origin.module if origin.is_package else origin.module.rpartition(".")[0]
    names = dict.fromkeys([*_from_imports(code, package), *_plain_imports(code)])
    return Scan(b"qten_gen" in data, _DERIVES.search(code) is not None, tuple(sorted(names)))


def _from_imports(code: str, package: str) -> Iterator[str]:
    """`from a.b import c` imports `a.b`, and `a.b.c` where that is a module."""
    for match in _FROM.finditer(code):
        base = _absolute("".join(match[1].split()), package)
        if base:
            yield base
        for clause in match[2].strip("() \t").split(","):
            name = _NAME.search(clause)
            if name is not None:
                yield f"{base}.{name[0]}".lstrip(".")


def _plain_imports(code: str) -> Iterator[str]:
    """`import a.b` imports `a` and `a.b`."""
    for match in _IMPORT.finditer(code):
        for clause in match[1].split(","):
            name = _NAME.search(clause.replace("\\", " "))
            if name is not None:
                parts = name[0].split(".")
                yield from (".".join(parts[:end]) for end in range(1, len(parts) + 1))


def _absolute(name: str, package: str) -> str:
    """A module name as an import statement spells it, made absolute; empty where it leads out of everything."""
    level = len(name) - len(name.lstrip("."))
    if level == 0:
        return name
    parts = package.split(".") if package else []
    return ".".join([*parts[: max(0, len(parts) - level + 1)], *filter(None, [name[level:]])])


def groups(
    origins: Mapping[str, Origin], scans: Mapping[str, Scan], generated: Collection[str] = ()
) -> list[tuple[str, ...]]:
    """The files that matter, as sorted groups of paths.

    Both mappings have the same keys; `generated` are the paths of files that have outputs.
    """
    imported = _resolved(origins, scans)
    mattering = _mattering(scans, imported, generated)
    parent = {path: path for path in mattering}

    def find(path: str) -> str:
        while parent[path] != path:
            parent[path] = path = parent[parent[path]]
        return path

    for path in mattering:
        for other in imported[path]:
            if other in mattering:
                parent[find(path)] = find(other)
    collected: dict[str, list[str]] = {}
    for path in sorted(mattering):
        collected.setdefault(find(path), []).append(path)
    return sorted(tuple(group) for group in collected.values())


def _resolved(origins: Mapping[str, Origin], scans: Mapping[str, Scan]) -> dict[str, tuple[str, ...]]:
    """The files that each file imports. A name means the module of the same root, or else the only one that is called so."""
    local: dict[tuple[str, str], str] = {}
    anywhere: dict[str, str | None] = {}
    for path, origin in sorted(origins.items()):
        local[origin.root, origin.module] = path
        anywhere[origin.module] = None if origin.module in anywhere else path
    imported = {}
    for path, origin in origins.items():
        targets = (local.get((origin.root, name)) or anywhere.get(name) for name in scans[path].imports)
        imported[path] = tuple(target for target in targets if target is not None)
    return imported


def _mattering(
    scans: Mapping[str, Scan], imported: Mapping[str, tuple[str, ...]], generated: Collection[str]
) -> set[str]:
    """The files that matter, by the four rules of this module's docstring."""
    importers: dict[str, list[str]] = {}
    for path, targets in imported.items():
        for target in targets:
            importers.setdefault(target, []).append(path)
    mentioning = {path for path, scan in scans.items() if scan.mentions}
    reaching = _closure(mentioning, importers)
    deriving = mentioning | (scans.keys() & set(generated)) | {path for path in reaching if scans[path].derives}
    between = {
        path: [target for target in targets if target in reaching or path in generated]
        for path, targets in imported.items()
    }
    return _closure(deriving, between)


def _closure(start: Iterable[str], edges: Mapping[str, Iterable[str]]) -> set[str]:
    """Everything that can be reached from `start`."""
    seen = set(start)
    waiting = list(seen)
    while waiting:
        for target in edges.get(waiting.pop(), ()):
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return seen
