"""What the text of a running program's modules says, where a class statement has to know more than the objects tell.

An annotation may name what is imported for type checkers only. And where a class does not match what was generated for it, the
message says in what the text and the class statement differ. Modules are found without importing them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import lru_cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from .. import rules
from ..common.module_names import absolute
from ..link import link
from ..link.bases import Ancestry, Root
from ..link.import_context import import_contexts
from ..link.names import Names
from ..model import Declaration, FileDecl, Meaning, SourceFile, TypeExpr
from ..model.diagnostics import Diagnostic
from ..read.module import read
from ..read.positions import locate

_WITHOUT_DECLARATIONS = frozenset(
    {*sys.stdlib_module_names, "jaxtyping", "numpy", "qten_gen", "tensordict", "torch", "typing_extensions"}
)
"""Packages in which nothing is declared, and no type is defined that the readers would have to know."""

_MOST_FILES = 2000
"""How many files are read at most; beyond, the answer would take longer than the import."""


class OwnText(NamedTuple):
    """The text of the module that runs: of a script or a notebook, where nobody could find it by the name of the module."""

    module: str
    path: str
    text: str


class TextDeclaration(NamedTuple):
    """What the command says of one class."""

    declaration: Declaration | None
    """None where the class is not a declaration to it."""
    errors: tuple[Diagnostic, ...]
    """The errors in its file, with their lines."""


def meaning(qualified: str, own: OwnText | None = None) -> Meaning | None:
    """What a name that does not exist yet means, or None where no text says it."""
    module = _home(qualified, own)
    if module is None:
        return None
    files = _linked(module, own)[0]
    names = Names([file.source for file in files])
    ancestry = Ancestry(names)
    found = names.expand(TypeExpr(qualified))
    if found.name == qualified and names.class_of(qualified) is None:
        return None
    return Meaning(found, frozenset(name for name in found.mentioned if ancestry.root(name) is Root.TENSORCLASS))


def of_class(module: str, name: str, own: OwnText | None = None) -> TextDeclaration:
    """What the text of a module says of one of its classes."""
    files, found, texts = _linked(module, own)
    file = next((file for file in files if file.source.module == module), None)
    if file is None:
        return TextDeclaration(None, ())
    said = (*found, *rules.check(file, rules.Project.of(files)))
    errors = [item for item in said if item.is_error and item.path == file.source.path]
    declaration = next((found for found in file.declarations if found.name == name), None)
    return TextDeclaration(declaration, tuple(locate(errors, texts)))


@lru_cache(maxsize=16)
def _linked(module: str, own: OwnText | None) -> tuple[tuple[FileDecl, ...], tuple[Diagnostic, ...], dict[str, bytes]]:
    """A module and all that it imports from files that may declare something: linked, with the diagnostics of reading."""
    texts: dict[str, bytes] = {}
    sources: list[SourceFile] = []
    found: list[Diagnostic] = []
    waiting, seen = [module], {module}
    while waiting and len(sources) < _MOST_FILES:
        name = waiting.pop()
        path, text = _path(name, own), _bytes(name, own)
        if path is None or text is None:
            continue
        source, problems = read(text, path, name, Path(path).name == "__init__.py")
        texts[path] = text
        sources.append(source)
        found.extend(problems)
        new = set(_imported(source)) - seen
        waiting.extend(sorted(new))
        seen |= new
    contexts = import_contexts(sources, texts)
    again = [
        read(texts[source.path], source.path, source.module, source.is_package, contexts[source.path])[0]
        if source.path in contexts
        else source
        for source in sources
    ]
    linked, inconsistent = link(again)
    return linked, (*found, *inconsistent), texts


def _imported(source: SourceFile) -> Iterator[str]:
    """The modules that a file may import something from, also what may be a module of a package."""
    for imported in source.imports.values():
        module = absolute(imported.module, source.module, source.is_package)
        if module.partition(".")[0] not in _WITHOUT_DECLARATIONS and module:
            yield module
            if imported.name is not None:
                yield f"{module}.{imported.name}"
    for star in source.star_imports:
        yield absolute(star, source.module, source.is_package)


def _home(qualified: str, own: OwnText | None) -> str | None:
    """The module that a qualified name is looked up in: the longest part of it that is one."""
    parts = qualified.split(".")
    for end in range(len(parts) - 1, 0, -1):
        module = ".".join(parts[:end])
        if parts[0] not in _WITHOUT_DECLARATIONS and _path(module, own) is not None:
            return module
    return None


def _bytes(module: str, own: OwnText | None) -> bytes | None:
    if own is not None and module == own.module:
        return own.text.encode()
    path = _path(module, own)
    try:
        return None if path is None else Path(path).read_bytes()
    except OSError:
        return None


def _path(module: str, own: OwnText | None) -> str | None:
    """The file of a module; None if there is none with Python source."""
    if own is not None and module == own.module:
        return own.path
    spec = _spec(module)
    return spec.origin if spec is not None and spec.origin is not None and spec.origin.endswith(".py") else None


def _spec(module: str) -> ModuleSpec | None:
    """Where a module is, found without importing the packages that it is in."""
    loaded = getattr(sys.modules.get(module), "__spec__", None)
    if isinstance(loaded, ModuleSpec):
        return loaded
    package, _, _ = module.rpartition(".")
    try:
        if not package:
            return find_spec(module)
        above = _spec(package)
        folders = None if above is None else above.submodule_search_locations
        return None if folders is None else PathFinder.find_spec(module, folders)
    except (ImportError, ValueError):
        return None
