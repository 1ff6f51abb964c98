"""How a generated file imports its source, and what the source's annotations name."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from ..model import FieldDecl, FieldKind, FileDecl, ImportedName, home
from . import layout
from .imports import statement
from .nested_names import beside, nested_names


def source_name(file: FileDecl) -> str:
    """The file name of the source, without folders."""
    return file.source.path.replace("\\", "/").rpartition("/")[2]


def annotation_imports(file: FileDecl, bound: Collection[str]) -> tuple[str, ...]:
    """The imports for the names that the annotations of a generated module take over from its sources.

    `bound` are names that the module imports by itself.
    """
    imports = file.source.imports
    words = {(owner, name.partition(".")[0]) for owner, name in _mentioned(file)}
    mentioned = {name for owner, name in words if owner == file.source.module}.difference(bound)
    lines = [statement(name, imports[name]) for name in sorted(mentioned) if name in imports]
    lines += sorted(set(_imports_of_others(file, words, bound)))
    local = {name for name in mentioned if name in file.source.names and name not in imports}
    declared = {declaration.name for declaration in file.declarations}
    return (*lines, _own_import(_source_module(file), sorted(local | declared)))


def declaration_import(file: FileDecl) -> str:
    """The import of the source as `_decl`, for the stub."""
    stem = source_name(file).removesuffix(".py")
    package, _, leaf = file.source.module.rpartition(".")
    if stem == "__init__":
        return f"import {file.source.module} as _decl" if not package else f"from .. import {leaf} as _decl"
    return f"from . import {leaf} as _decl" if package else f"import {stem} as _decl"


def _own_import(module: str, names: list[str]) -> str:
    """The import of the source's own names, in parentheses where it takes several lines."""
    line = f"from {module} import {', '.join(names)}"
    return line if len(line) + 4 <= layout.WIDTH else layout.stacked(f"from {module} import (", names, ")", 4)


def _mentioned(file: FileDecl) -> Iterator[tuple[str, str]]:
    """The names in the annotations that a generated module repeats, with the modules that they stand in."""
    for declaration in file.declarations:
        for field in declaration.fields:
            match field:
                case FieldDecl(kind=FieldKind.TENSOR | FieldKind.NUMBER | FieldKind.NESTED):
                    pass
                case _:
                    yield from ((home(field), name) for name in field.type.names)


def _imports_of_others(file: FileDecl, words: Iterable[tuple[str, str]], bound: Collection[str]) -> Iterator[str]:
    """Imports for what the annotations of inherited fields mention, and of nested classes, from the files that have them."""
    for owner, name in words:
        if name in file.sources[owner].names.difference(file.source.names, bound):
            yield statement(name, ImportedName(_from(file, owner), name))
    for qualified, name in nested_names(file.declarations).items():
        owner, _, cls = qualified.rpartition(".")
        if owner != file.source.module:
            yield statement(name, ImportedName(_from(file, owner), cls))


def _from(file: FileDecl, home: str) -> str:
    """Another source as the generated module imports it."""
    return beside(home, file.source.module) if "." in file.source.module else home


def _source_module(file: FileDecl) -> str:
    """The source as the generated module beside it imports it."""
    stem = source_name(file).removesuffix(".py")
    in_package = "." in file.source.module or file.source.is_package
    return "." if stem == "__init__" else f".{stem}" if in_package else stem
