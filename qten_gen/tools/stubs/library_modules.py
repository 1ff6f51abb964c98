"""Reads the modules of libraries: their syntax tree, the names in them, and what their classes are, across files."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ...common.naming import absolute
from ...model import ImportedName
from ...model.diagnostics import Diagnostic
from ...project.libraries import Installed, ModuleFile
from ...project.paths import read_regular
from ...read.bindings import bound_names, dotted, imported_names, statements
from ...read.dotted_names import Scope
from ...read.syntax import decode, lines_of, parse


@dataclass(frozen=True, slots=True)
class Source:
    """One module of a library, parsed."""

    file: ModuleFile
    tree: ast.Module
    scope: Scope
    stars: tuple[str, ...]
    """The modules that `from module import *` is said of, by their absolute names."""
    classes: dict[str, ast.ClassDef]
    """Top-level classes, those in blocks included; of several of one name, the last."""


class Unreadable(Exception):
    """A source that cannot be read; the text says why."""


@dataclass(slots=True)
class Sources:
    """The modules of installed libraries, each read once."""

    installed: Installed
    _read: dict[str, Source] = field(default_factory=dict)
    _origins: dict[str, str] = field(default_factory=dict)

    def of(self, file: ModuleFile) -> Source:
        """The source of a module.

        Raises:
            Unreadable: It cannot be read or parsed.
        """
        if file.name not in self._read:
            self._read[file.name] = _source(file)
        return self._read[file.name]

    def find(self, module: str) -> Source | None:
        """The source of a module; None if it is not installed or cannot be read."""
        file = self.installed.find(module)
        try:
            return None if file is None else self.of(file)
        except Unreadable:
            return None

    def origin(self, name: str) -> str:
        """Where a qualified name is defined: `torch.nn.Linear` is `torch.nn.modules.linear.Linear`.

        A name is resolved as far as possible.
        """
        if name not in self._origins:
            self._origins[name] = name  # what leads back to itself stays as it is
            self._origins[name] = self._follow(name)
        return self._origins[name]

    def class_of(self, name: str) -> tuple[Source, ast.ClassDef] | None:
        """The statement of a class by any of its qualified names, and the module it stands in."""
        module, _, last = self.origin(name).rpartition(".")
        source = self.find(module) if module else None
        found = None if source is None else source.classes.get(last)
        return None if source is None or found is None else (source, found)

    def bases(self, source: Source, node: ast.ClassDef) -> Iterator[str]:
        """The qualified names of the bases of a class, where they are defined. Subscripts are left out."""
        for base in node.bases:
            name = dotted(base.value if isinstance(base, ast.Subscript) else base)
            if name is not None:
                yield self.origin(source.scope.resolve(name))

    def ancestors(self, source: Source, node: ast.ClassDef) -> Iterator[tuple[Source, ast.ClassDef]]:
        """The classes that a class derives from, the nearest first, as far as their sources can be read."""
        seen: set[str] = set()
        waiting = list(self.bases(source, node))
        while waiting:
            name = waiting.pop(0)
            found = None if name in seen else self.class_of(name)
            seen.add(name)
            if found is not None:
                yield found
                waiting += self.bases(*found)

    def _follow(self, name: str) -> str:
        """Where a name leads by one import, and on from there."""
        module, rest = self._split(name)
        source = self.find(module) if module and rest else None
        if source is None:
            return name
        head, _, tail = rest.partition(".")
        if head in source.classes:
            return name
        tail = f".{tail}" if tail else ""
        imported = source.scope.imports.get(head)
        if imported is not None:
            target = source.scope.resolve_import(imported)
            return name if target + tail == name else self.origin(target + tail)
        for star in reversed(source.stars):
            found = self.origin(f"{star}.{head}")
            if found != f"{star}.{head}" or self._defines(star, head):
                return found + tail
        return name

    def _defines(self, module: str, name: str) -> bool:
        source = self.find(module)
        return source is not None and (name in source.classes or name in source.scope.bound)

    def _split(self, name: str) -> tuple[str, str]:
        """The longest start of a name that is a module, and the rest."""
        parts = name.split(".")
        for count in range(len(parts), 0, -1):
            if self.installed.find(".".join(parts[:count])) is not None:
                return ".".join(parts[:count]), ".".join(parts[count:])
        return "", name


def _source(file: ModuleFile) -> Source:
    """Read and parse the file of a module. Of several imports of a name, the first counts."""
    try:
        text = decode(read_regular(file.path), file.path)
    except OSError as error:
        raise Unreadable(f"{file.path}: cannot read it: {error.strerror}") from None
    tree = _parsed(text, file.path) if isinstance(text, str) else text
    if isinstance(tree, Diagnostic):
        where = f":{tree.span.line}" if tree.span is not None else ""
        raise Unreadable(f"{file.path}{where}: {tree.message}")
    imports: dict[str, ImportedName] = {}
    classes: dict[str, ast.ClassDef] = {}
    stars: list[str] = []
    for node in statements(tree.body):
        match node:
            case ast.Import() | ast.ImportFrom():
                if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                    stars.append(imported_module(node, file))
                for name, imported in imported_names(node, type_checking=False):
                    imports.setdefault(name, imported)
            case ast.ClassDef(name=name):
                classes[name] = node
    lines = lines_of(text) if isinstance(text, str) else []
    bound = frozenset({*classes, *defined_names(tree.body)})
    scope = Scope(file.name, file.is_package, imports, bound, frozenset(classes), lines=lines)
    return Source(file, tree, scope, tuple(stars), classes)


def _parsed(text: str, path: str) -> ast.Module | Diagnostic:
    """The tree with comments such as `# type: List[int]`, which checkers read; without them where one is malformed."""
    if "# type:" in text:
        try:
            return ast.parse(text, type_comments=True)
        except SyntaxError:
            pass
    return parse(text, path)


def defined_names(body: Iterable[ast.stmt]) -> set[str]:
    """The names that statements assign or define as functions, those in blocks included."""
    found: set[str] = set()
    for node in statements(body):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
            case ast.Assign(targets=targets):
                found.update(name for target in targets for name in bound_names(target))
            case ast.AnnAssign(target=target):
                found.update(bound_names(target))
    return found


def imported_module(node: ast.ImportFrom, file: ModuleFile) -> str:
    """The absolute name of the module that a from-import names."""
    return absolute("." * node.level + (node.module or ""), file.name, file.is_package)
