"""What stands around the classes of a generated file: head, imports, and how the file is named."""

from __future__ import annotations

from collections.abc import Iterator

from ..model import FieldDecl, FieldKind, FileDecl, ImportedName, ModuleDecl, TensorClassDecl
from . import layout

_PYRIGHT_RULES_PY = (
    "reportArgumentType",
    "reportAssignmentType",
    "reportAttributeAccessIssue",
    "reportIndexIssue",
    "reportReturnType",
)
PY_DIRECTIVES = (
    "# ruff: noqa",
    "# fmt: off",
    "# isort: skip_file",
    "# mypy: ignore-errors",
    f"# pyright: basic, {', '.join(f'{rule}=false' for rule in _PYRIGHT_RULES_PY)}",
)
"""Checkers read the stub; what a generated class inherits is known only where the declaration puts it into its bases."""

_MYPY_CODES = "override, assignment, misc, overload-overlap, mutable-override, explicit-override"
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
    lines = ["from torch import Size, Tensor", "from torch import device as Device"] if TensorClassDecl in kinds else []
    if ModuleDecl in kinds:
        lines.append("from torch import nn" if TensorClassDecl in kinds else "from torch import Tensor, nn")
    mentioned = {name.partition(".")[0] for name in _mentioned(file)} - {"Tensor", "nn", "Size", "Device"}
    imports = file.source.imports
    lines += [_import(name, imports[name]) for name in sorted(mentioned) if name in imports]
    local = {name for name in mentioned if name in file.source.names and name not in imports}
    declared = {declaration.name for declaration in file.declarations}
    names = sorted(local | declared)
    own = f"from {_source_module(file)} import "
    return (*lines, layout.bracketed(own, names, "", 4) if len(names) < 8 else layout.stacked(f"{own}(", names, ")", 4))


def _mentioned(file: FileDecl) -> Iterator[str]:
    """The names that the annotations of a generated module are made of, its own classes and torch's aside."""
    for declaration in file.declarations:
        for field in declaration.fields:
            match field:
                case FieldDecl(kind=FieldKind.NESTED, nested=str(nested)):
                    yield nested
                case FieldDecl(kind=FieldKind.TENSOR | FieldKind.NUMBER):
                    pass
                case _ if field.owner.startswith(f"{file.source.module}."):
                    yield from field.type.names


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
