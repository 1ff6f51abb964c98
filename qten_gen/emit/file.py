"""What stands around the classes of a generated file: head, imports, and how the file is named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..model import FieldDecl, FieldKind, FileDecl, ImportedName, ModuleDecl, TensorClassDecl, home
from . import layout
from .nested_names import beside, nested_names

_PYRIGHT_RULES_PY = (
    "reportArgumentType",
    "reportAssignmentType",
    "reportAttributeAccessIssue",
    "reportGeneralTypeIssues",
    "reportIndexIssue",
    "reportInvalidTypeVarUse",
    "reportReturnType",
    "reportUndefinedVariable",
)
PY_DIRECTIVES = (
    "# ruff: noqa",
    "# fmt: off",
    "# isort: skip_file",
    "# mypy: ignore-errors",
    f"# pyright: basic, {', '.join(f'{rule}=false' for rule in _PYRIGHT_RULES_PY)}",
)
"""Checkers read the stub; what a generated class inherits is known only where the declaration puts it into its bases."""

_MYPY_CODES = "override, assignment, misc, overload-overlap, mutable-override, explicit-override, type-arg"
_PYRIGHT_RULES_PYI = (
    "reportIncompatibleMethodOverride",
    "reportIncompatibleVariableOverride",
    "reportOverlappingOverload",
    "reportUnusedImport",
    "reportImplicitOverride",
)
PYI_DIRECTIVES = (
    "# ruff: noqa",
    "# fmt: off",
    "# isort: skip_file",
    f'# mypy: disable-error-code="{_MYPY_CODES}"',
    f"# pyright: {', '.join(f'{rule}=false' for rule in _PYRIGHT_RULES_PYI)}",
    "# ty: ignore",
    "# pyrefly: ignore-errors",
)
"""A generated class says more exact types than its declaration, and checkers take that for an incompatible override."""


def source_name(file: FileDecl) -> str:
    """The file name of the source, without folders."""
    return file.source.path.replace("\\", "/").rpartition("/")[2]


def checking_imports(file: FileDecl) -> tuple[str, ...]:
    """The imports under TYPE_CHECKING of a generated module, for the names in its annotations."""
    kinds = {type(declaration) for declaration in file.declarations}
    lines = ["from torch import Tensor"] if TensorClassDecl in kinds else []
    if ModuleDecl in kinds:
        lines.append("from torch import nn" if TensorClassDecl in kinds else "from torch import Tensor, nn")
    imports = file.source.imports
    words = {(owner, name.partition(".")[0]) for owner, name in _mentioned(file)}
    mentioned = {name for owner, name in words if owner == file.source.module} - {"Tensor", "nn"}
    lines += [_import(name, imports[name]) for name in sorted(mentioned) if name in imports]
    lines += sorted(set(_imports_of_others(file, words)))
    local = {name for name in mentioned if name in file.source.names and name not in imports}
    declared = {declaration.name for declaration in file.declarations}
    names = sorted(local | declared)
    return (*lines, _own_import(_source_module(file), names))


def _own_import(module: str, names: list[str]) -> str:
    """The import of the source's own names, in parentheses where it takes several lines."""
    line = f"from {module} import {', '.join(names)}"
    return line if len(line) + 4 <= layout.WIDTH else layout.stacked(f"from {module} import (", names, ")", 4)


def _mentioned(file: FileDecl) -> Iterator[tuple[str, str]]:
    """The names in the annotations of a generated module, those of TensorClasses and torch aside, with their modules."""
    for declaration in file.declarations:
        for field in declaration.fields:
            match field:
                case FieldDecl(kind=FieldKind.TENSOR | FieldKind.NUMBER | FieldKind.NESTED):
                    pass
                case _:
                    yield from ((home(field), name) for name in field.type.names)


def _imports_of_others(file: FileDecl, words: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Imports for what the annotations of inherited fields mention, and of nested classes, from the files that have them."""
    for owner, name in words:
        if name in file.sources[owner].names - file.source.names - {"Tensor", "nn"}:
            yield _import(name, ImportedName(_from(file, owner), name))
    for qualified, name in nested_names(file.declarations).items():
        owner, _, cls = qualified.rpartition(".")
        if owner != file.source.module:
            yield _import(name, ImportedName(_from(file, owner), cls))


def _from(file: FileDecl, home: str) -> str:
    """Another source as the generated module imports it."""
    return beside(home, file.source.module) if "." in file.source.module else home


def _import(name: str, imported: ImportedName) -> str:
    bound = imported.module if imported.name is None else imported.name
    alias = "" if bound == name else f" as {name}"
    return f"import {bound}{alias}" if imported.name is None else f"from {imported.module} import {bound}{alias}"


def _source_module(file: FileDecl) -> str:
    """The source as the generated module beside it imports it."""
    stem = source_name(file).removesuffix(".py")
    in_package = "." in file.source.module or file.source.is_package
    return "." if stem == "__init__" else f".{stem}" if in_package else stem


def decl_import(file: FileDecl) -> str:
    """The import of the source as `_decl`, for the stub."""
    stem = source_name(file).removesuffix(".py")
    package, _, leaf = file.source.module.rpartition(".")
    if stem == "__init__":
        return f"import {file.source.module} as _decl" if not package else f"from .. import {leaf} as _decl"
    return f"from . import {leaf} as _decl" if package else f"import {stem} as _decl"
