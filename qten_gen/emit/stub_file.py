"""Generated stubs: what stands around their classes, and the views of these."""

from __future__ import annotations

from typing import NamedTuple

from ..model import Declaration, FileDecl, ModuleDecl, TensorClassDecl
from . import module_stub, tensorclass_stub
from .imports import statements
from .module_stub import ModuleStubView
from .source_imports import declaration_import, source_name
from .stub_names import StubNames
from .tensorclass_stub import TensorClassStubView

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


class StubFileView(NamedTuple):
    """What the template of a stub sets out."""

    summary: str
    imports: tuple[tuple[str, ...], ...]
    """The statements, in groups with a blank line between them."""
    classes: tuple[TensorClassStubView | ModuleStubView, ...]
    directives: tuple[str, ...]
    """Comments for checkers and formatters."""


def stub_file(file: FileDecl) -> StubFileView:
    """The stub of a source file's generated module."""
    names = StubNames(file)
    classes = tuple(_stub_class(declaration, names.for_class(), file) for declaration in file.declarations)
    aliases = frozenset({"_t"}).union(*(view.imports for view in classes))
    return StubFileView(
        summary=f"Exact types of the classes declared in `{source_name(file)}`.",
        imports=(
            *statements(aliases),
            (*names.imports, declaration_import(file)),
        ),
        classes=classes,
        directives=PYI_DIRECTIVES,
    )


def _stub_class(declaration: Declaration, names: StubNames, file: FileDecl) -> TensorClassStubView | ModuleStubView:
    match declaration:
        case TensorClassDecl():
            return tensorclass_stub.view(declaration, names, file.related)
        case ModuleDecl():
            return module_stub.view(declaration, names, file.related)
