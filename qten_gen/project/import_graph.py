"""Which files may matter to declarations, and which of them have to be read together. No parsing, no disk.

Parsing is nearly the whole cost of a run, so a file is only parsed if it can matter. A declaration derives from TensorClass or
Module, directly or through classes of other files; its annotations may go through type aliases of other files; and a handler
may be registered with a Module anywhere. So:

1. every file that mentions `qten_gen` matters;
2. a file that imports one of these, over any number of steps, matters if it has a class with bases or a `.register(`;
3. a file that has outputs matters: whether it still declares is not guessed, lest a half-typed line cost it its outputs;
4. of what a file that matters imports, that matters which leads on, over any number of steps, to a file of rule 1 or to one
   that may define type aliases, that which a base of a class or a star import comes from, and that which passes a name on.

The text is looked through with regular expressions: what stands in a string may be taken for code, which only costs time.
Files that matter and import each other form a group: the outputs of a file depend on nothing outside its group.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from ..common.module_names import absolute

_COMMENT = re.compile(r"#[^\n]*")
_FROM = re.compile(r"\bfrom\s+([.\w][.\w \t]*?)\s*(?:\\\r?\n\s*)?\bimport\b\s*(\([^)]*\)|(?:\\\r?\n|[^\n;])*)")
_IMPORT = re.compile(r"(?:^|[;:])[ \t]*import\s+((?:\\\r?\n|[^\n;])+)", re.MULTILINE)
_CLASS = re.compile(r"^[ \t]*class\s+\w+\s*(?:\[[^\n]*\])?\s*\(([^)]*)", re.MULTILINE)
_REGISTER = re.compile(r"\.\s*register\s*\(")
# At the top level a name of any spelling; indented, under `if TYPE_CHECKING:`, one that is spelt as types are.
_ALIAS = re.compile(
    r"^(?:[ \t]*type\s+\w+|(?:\w+|[ \t]+[A-Z]\w*)\s*(?::[^=\n]*)?="
    r"\s*(?:[^\W\d][\w.]*\s*(?:$|[\[|])|(?:\w+\.)?(?:TypeVar|NewType|TypeAliasType)\b))",
    re.MULTILINE,
)
_NAME = re.compile(r"[.\w]+")
_HEAD = re.compile(r"[^\W\d]\w*")


class Scan(NamedTuple):
    """What a look at the bytes of a file tells. Imports are dotted names of everything that may be a module."""

    mentions: bool
    """It mentions `qten_gen`."""
    derives: bool
    """It has a class with bases."""
    registers: bool
    """It registers a handler."""
    aliases: bool
    """It may define a type alias or a type variable."""
    imports: tuple[str, ...]
    bases: tuple[str, ...]
    """Those of the imports that bases of classes may come from, and all star imports."""
    binds: tuple[str, ...] = ()
    """The names that imports bind, which other files may import from here."""
    relative: bool = False
    """It imports relatively, as only files of packages can."""


class Origin(NamedTuple):
    """Where a file is imported from: its dotted name `module` below the folder `root`."""

    root: str
    module: str
    is_package: bool = False


class _Import(NamedTuple):
    """A name that an import binds, `*` for all, and what may be modules of it."""

    bound: str
    modules: tuple[str, ...]


def scan(data: bytes, origin: Origin) -> Scan:
    """Look through the bytes of a file."""
    code = _COMMENT.sub("", data.decode(_encoding(data), "replace"))
    found = [*_from_imports(code, origin), *_plain_imports(code)]
    lists = _CLASS.findall(code)
    heads = {name for bases in lists for name in _HEAD.findall(bases)}
    return Scan(
        mentions="qten_gen" in code or b"qten_gen" in data,
        derives=bool(lists),
        registers=_REGISTER.search(code) is not None,
        aliases=_ALIAS.search(code) is not None,
        imports=_modules(found),
        bases=_modules(item for item in found if item.bound == "*" or (lists and item.bound in heads)),
        binds=tuple(sorted({item.bound for item in found})),
        relative=any(module.startswith(".") for module, _ in _FROM.findall(code)),
    )


def _encoding(data: bytes) -> str:
    """What a file is looked through as. Python reads no UTF-16, and whoever saved a declaration so has to be told."""
    return "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8"


def _modules(imports: Iterable[_Import]) -> tuple[str, ...]:
    return tuple(sorted({module for item in imports for module in item.modules if module}))


def _from_imports(code: str, origin: Origin) -> Iterator[_Import]:
    """`from a.b import c` imports `a.b`, and `a.b.c` where that is a module."""
    for match in _FROM.finditer(code):
        base = absolute("".join(match[1].split()), origin.module, origin.is_package)
        for clause in match[2].strip("() \t").split(","):
            names = _NAME.findall(clause)
            if names:
                yield _Import(names[-1], (base, f"{base}.{names[0]}".lstrip(".")))
            elif "*" in clause:
                yield _Import("*", (base,))


def _plain_imports(code: str) -> Iterator[_Import]:
    """`import a.b` imports `a` and `a.b`."""
    for match in _IMPORT.finditer(code):
        for clause in match[1].split(","):
            names = _NAME.findall(clause)
            if names:
                parts = names[0].split(".")
                bound = parts[0] if len(names) == 1 else names[-1]
                yield _Import(bound, tuple(".".join(parts[:end]) for end in range(1, len(parts) + 1)))


def imports(origins: Mapping[str, Origin], scans: Mapping[str, Scan]) -> dict[str, tuple[str, ...]]:
    """For each file, the files that it imports."""
    known = _Modules.of(origins)
    return {path: known.find(origins[path], scan.imports) for path, scan in scans.items()}


def groups(
    origins: Mapping[str, Origin], scans: Mapping[str, Scan], generated: Collection[str] = ()
) -> list[tuple[str, ...]]:
    """The files that matter, as sorted groups of paths.

    Both mappings have the same keys; `generated` are the paths of files that have outputs.
    """
    known = _Modules.of(origins)
    imported = imports(origins, scans)
    relevant = _relevant(scans, imported, known, origins, generated)
    parent = {path: path for path in relevant}

    def find(path: str) -> str:
        while parent[path] != path:
            parent[path] = path = parent[parent[path]]
        return path

    for path in relevant:
        for other in imported[path]:
            if other in relevant:
                parent[find(path)] = find(other)
    collected: dict[str, list[str]] = {}
    for path in sorted(relevant):
        collected.setdefault(find(path), []).append(path)
    return sorted(tuple(group) for group in collected.values())


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
    imported: Mapping[str, tuple[str, ...]],
    known: _Modules,
    origins: Mapping[str, Origin],
    generated: Collection[str],
) -> set[str]:
    """The files that matter, by the four rules of this module's docstring."""
    importers = importers_of(imported)

    def needed(path: str) -> Iterator[str]:
        yield from (target for target in imported[path] if target in leading)
        yield from known.find(origins[path], scans[path].bases)
        yield from known.passing(origins[path], scans[path].imports, scans)

    mentioning = {path for path, scan in scans.items() if scan.mentions}
    deriving = {
        path for path in closure(mentioning, importers.__getitem__) if scans[path].derives or scans[path].registers
    }
    leading = closure(mentioning | {path for path, scan in scans.items() if scan.aliases}, importers.__getitem__)
    return closure(mentioning | deriving | (scans.keys() & set(generated)), needed)


def importers_of(imported: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    """For each file, the files that import it."""
    importers: dict[str, list[str]] = {path: [] for path in imported}
    for path, targets in imported.items():
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
