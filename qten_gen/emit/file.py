"""Generated files: what stands around their classes, and the views of these."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from ..model import Declaration, FileDecl, ModuleDecl, TensorClassDecl
from . import module, module_stub, tensorclass, tensorclass_stub
from .imports import statements
from .module import ModuleView
from .module_stub import ModuleStubView
from .nested_names import NestedNames, nested_names
from .source_imports import annotation_imports, declaration_import, source_name
from .stub_names import StubNames
from .tensorclass import TensorClassView
from .tensorclass_stub import TensorClassStubView

PY_DIRECTIVES = (
    "# ruff: noqa",
    "# fmt: off",
    "# isort: skip_file",
    '# mypy: disable-error-code="no-any-return, type-arg"',
)
"""What the registries of nn.Module hold, only the declaration says; and a nested class may be generic."""

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

_SHORT_NAMES = ("_Size = _torch.Size", "_Tensor = _torch.Tensor")
"""Globals for what a TensorClass looks up most often: one look-up is faster than two."""


@dataclass(frozen=True, slots=True)
class PythonFileView:
    """What the template of a generated module sets out."""

    summary: str
    imports: tuple[tuple[str, ...], ...]
    """The statements, in groups with a blank line between them."""
    classes: tuple[TensorClassView | ModuleView, ...]
    short_names: tuple[str, ...]
    """Assignments of globals that the classes use."""
    checking: tuple[str, ...]
    """The statements under TYPE_CHECKING: imports for the names in annotations."""
    directives: tuple[str, ...]
    """Comments for checkers and formatters."""


@dataclass(frozen=True, slots=True)
class StubFileView:
    """What the template of a stub sets out."""

    summary: str
    imports: tuple[tuple[str, ...], ...]
    """The statements, in groups with a blank line between them."""
    classes: tuple[TensorClassStubView | ModuleStubView, ...]
    directives: tuple[str, ...]
    """Comments for checkers and formatters."""


def python_file(file: FileDecl) -> PythonFileView:
    """The generated module of a source file."""
    variables = frozenset(name for source in file.sources.values() for name in source.type_variables)
    classes = _python_classes(file.declarations, variables)
    aliases = _used(classes, "annotations", "_rt", "_t")
    return PythonFileView(
        summary=f"Concrete classes for the declarations in `{source_name(file)}`.",
        imports=statements(aliases),
        classes=classes,
        short_names=_short_names(file.declarations),
        checking=annotation_imports(file, aliases),
        directives=PY_DIRECTIVES,
    )


def python_class(declaration: Declaration) -> PythonFileView:
    """A module of one class that is run and never checked, for a declaration that no file was generated for."""
    classes = _python_classes((declaration,))
    return PythonFileView(
        summary=f"Concrete class for the declaration `{declaration.name}`, rendered in memory.",
        imports=statements(_used(classes, "annotations", "_rt", "_t")),
        classes=classes,
        short_names=_short_names((declaration,)),
        checking=("pass",),
        directives=(),
    )


def stub_file(file: FileDecl) -> StubFileView:
    """The stub of a source file's generated module."""
    names = StubNames(file)
    classes = tuple(_stub_class(declaration, names.for_class(), file) for declaration in file.declarations)
    return StubFileView(
        summary=f"Exact types of the classes declared in `{source_name(file)}`.",
        imports=(*statements(_used(classes, "_t")), (*names.imports, declaration_import(file))),
        classes=classes,
        directives=PYI_DIRECTIVES,
    )


def _python_classes(
    declarations: tuple[Declaration, ...], variables: Collection[str] = ()
) -> tuple[TensorClassView | ModuleView, ...]:
    names = nested_names(declarations)
    return tuple(_python_class(declaration, names, variables) for declaration in declarations)


def _python_class(
    declaration: Declaration, names: NestedNames, variables: Collection[str]
) -> TensorClassView | ModuleView:
    match declaration:
        case TensorClassDecl():
            return tensorclass.view(declaration, names, variables)
        case ModuleDecl():
            return module.view(declaration)


def _stub_class(declaration: Declaration, names: StubNames, file: FileDecl) -> TensorClassStubView | ModuleStubView:
    match declaration:
        case TensorClassDecl():
            return tensorclass_stub.view(declaration, names, file.related)
        case ModuleDecl():
            return module_stub.view(declaration, names, file.related)


def _used(
    classes: Iterable[TensorClassView | ModuleView | TensorClassStubView | ModuleStubView], *always: str
) -> frozenset[str]:
    """The names that a file has to import: those of its classes, and those of its template."""
    return frozenset(always).union(*(cls.imports for cls in classes))


def _short_names(declarations: tuple[Declaration, ...]) -> tuple[str, ...]:
    return _SHORT_NAMES if any(isinstance(declaration, TensorClassDecl) for declaration in declarations) else ()
