"""How a generated file imports its source, and what the source's annotations name."""

from __future__ import annotations

import builtins
from collections.abc import Collection, Iterator

from ..model import FieldDecl, FieldKind, FileDecl, ImportedName, ModuleDecl, SourceFile, home
from . import layout
from .imports import statement
from .module import own_name
from .nested_names import beside, nested_names


def source_name(file: FileDecl) -> str:
    """The file name of the source, without folders."""
    return file.source.path.replace("\\", "/").rpartition("/")[2]


def annotation_imports(file: FileDecl, bound: Collection[str]) -> tuple[str, ...]:
    """The imports for the names that the annotations of a generated module take over from its sources.

    `bound` are names that the module imports by itself.
    """
    imports = file.source.imports
    mentioned = {name.partition(".")[0] for name in _mentioned(file)}.difference(bound)
    lines = [statement(name, imports[name]) for name in sorted(mentioned) if name in imports]
    lines += sorted({*_nested_imports(file), *_own_globals(file)})
    local = {name for name in mentioned if _is_local(name, file.source)}
    declared = {each.name for each in (*file.declarations, *file.functionals)}
    return (*lines, _own_import(_source_module(file), sorted(local | declared)))


def _is_local(name: str, source: SourceFile) -> bool:
    """Whether a file defines a name itself, or takes it over by a star import."""
    return name not in source.imports and (
        name in source.names or (source.has_star_import and name not in dir(builtins))
    )


def declaration_import(file: FileDecl) -> str:
    """The import of the source as `_decl`, for the stub."""
    stem = source_name(file).removesuffix(".py")
    package, _, leaf = file.source.module.rpartition(".")
    if stem == "__init__":
        return f"import {file.source.module} as _decl" if not package else f"from .. import {leaf} as _decl"
    return f"from . import {leaf} as _decl" if package else f"import {stem} as _decl"


def passed_on(file: FileDecl, names: list[str]) -> list[str]:
    """The imports of what a stub gives as its source has it: type checkers want each name twice for that."""
    module = _source_module(file)
    return [f"from {module} import {name} as {name}" for name in names]


def _own_import(module: str, names: list[str]) -> str:
    """The import of the source's own names, in parentheses where it takes several lines."""
    line = f"from {module} import {', '.join(names)}"
    return line if len(line) + 4 <= layout.WIDTH else layout.stacked(f"from {module} import (", names, ")", 4)


def _mentioned(file: FileDecl) -> Iterator[str]:
    """The names in the annotations that a generated module repeats: those of its own file."""
    for declaration in file.declarations:
        for field in declaration.fields:
            match field:
                case FieldDecl(kind=FieldKind.TENSOR | FieldKind.NUMBER | FieldKind.NESTED):
                    pass
                # A `Literal` is written `Any`.
                case _ if home(field) == file.source.module and "typing.Literal" not in field.type.mentioned:
                    yield from field.type.names


def _nested_imports(file: FileDecl) -> Iterator[str]:
    """Imports for the classes of nested fields that are declared elsewhere, or go by another name."""
    for qualified, name in nested_names(file.declarations).items():
        owner, _, cls = qualified.rpartition(".")
        if owner != file.source.module:
            yield statement(name, ImportedName(_from(file, owner), cls))
        elif name != cls:
            yield statement(name, ImportedName(_source_module(file), cls))


def _own_globals(file: FileDecl) -> Iterator[str]:
    """Imports for the classes whose generated code calls them by their second global."""
    for declaration in file.declarations:
        if isinstance(declaration, ModuleDecl) and own_name(declaration) != declaration.name:
            yield statement(own_name(declaration), ImportedName(_source_module(file), declaration.name))


def _from(file: FileDecl, home: str) -> str:
    """Another source as the generated module imports it."""
    return beside(home, file.source.module) if "." in file.source.module else home


def _source_module(file: FileDecl) -> str:
    """The source as the generated module beside it imports it."""
    stem = source_name(file).removesuffix(".py")
    in_package = "." in file.source.module or file.source.is_package
    return "." if stem == "__init__" else f".{stem}" if in_package else stem
