"""Generated modules: what stands around their classes, and the views of these."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from types import MappingProxyType
from typing import NamedTuple

from ..model import Declaration, FileDecl, ModuleDecl, TensorClassDecl
from . import layout, module, tensorclass
from .child_expressions import Siblings
from .imports import statements
from .module import ModuleView
from .nested_names import NestedNames, nested_names
from .offered import offered
from .source_imports import annotation_imports, source_name
from .tensorclass import TensorClassView


class PythonFileView(NamedTuple):
    """The input of the template of a generated module."""

    summary: str
    imports: tuple[tuple[str, ...], ...]
    """The statements, in groups with a blank line between them."""
    classes: tuple[TensorClassView | ModuleView, ...]
    has_tensorclasses: bool
    lookup: str
    """The call that looks up what the module does not have yet: its classes, and functions of the source."""
    checking: tuple[str, ...]
    """The statements under TYPE_CHECKING: imports for the names in annotations."""
    is_checked: bool
    """Whether checkers and formatters see it."""


def python_file(file: FileDecl) -> PythonFileView:
    """The generated module of a source file."""
    classes = _python_classes(file.declarations, file.type_variables, _siblings(file))
    aliases = _used(classes, "annotations", "_rt", "_t")
    return PythonFileView(
        summary=f"Concrete classes for the declarations in `{source_name(file)}`.",
        imports=statements(aliases),
        classes=classes,
        has_tensorclasses=_has_tensorclasses(file.declarations),
        lookup=_lookup(_others(file)),
        checking=annotation_imports(file, aliases),
        is_checked=True,
    )


def python_class(declaration: Declaration) -> PythonFileView:
    """A module of one class that is run and never checked, for a declaration that no file was generated for."""
    classes = _python_classes((declaration,))
    return PythonFileView(
        summary=f"Concrete class for the declaration `{declaration.name}`, rendered in memory.",
        imports=statements(_used(classes, "annotations", "_rt", "_t")),
        classes=classes,
        has_tensorclasses=_has_tensorclasses((declaration,)),
        lookup=_lookup([]),
        checking=("pass",),
        is_checked=False,
    )


def _python_classes(
    declarations: tuple[Declaration, ...], variables: Collection[str] = (), siblings: Siblings = MappingProxyType({})
) -> tuple[TensorClassView | ModuleView, ...]:
    names = nested_names(declarations)
    return tuple(_python_class(declaration, names, variables, siblings) for declaration in declarations)


def _python_class(
    declaration: Declaration, names: NestedNames, variables: Collection[str], siblings: Siblings
) -> TensorClassView | ModuleView:
    match declaration:
        case TensorClassDecl():
            return tensorclass.view(declaration, names, variables)
        case ModuleDecl():
            return module.view(declaration, siblings, variables)


def _siblings(file: FileDecl) -> Siblings:
    """The Modules of the file that take a device and a dtype, and that their names stand for: a decorator may return another."""
    decorated = {cls.qualname for cls in file.source.classes if cls.decorators}
    return {
        f"{declaration.module}.{declaration.name}": declaration.name
        for declaration in file.declarations
        if isinstance(declaration, ModuleDecl) and not declaration.custom_init and declaration.name not in decorated
    }


def _used(classes: Iterable[TensorClassView | ModuleView], *always: str) -> frozenset[str]:
    """The names that a file has to import: those of its classes, and those of its template."""
    return frozenset(always).union(*(cls.imports for cls in classes))


def _others(file: FileDecl) -> list[str]:
    """The names that the module gives beside the generated classes."""
    return sorted({*offered(file), *(functional.name for functional in file.functionals)})


def _lookup(others: list[str]) -> str:
    """The lookup of a name; `others` are those that are no classes, which the source gives each time."""
    return layout.bracketed("_rt.declared(", ["__name__", "name", *map(layout.quoted_string, others)], ")", 4)


def _has_tensorclasses(declarations: tuple[Declaration, ...]) -> bool:
    return any(isinstance(declaration, TensorClassDecl) for declaration in declarations)
