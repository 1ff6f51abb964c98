"""Generated stubs: what stands around their classes, and the views of these."""

from __future__ import annotations

from typing import NamedTuple

from ..model import Declaration, FileDecl, MethodSource, ModuleDecl, TensorClassDecl
from . import functional_stub, module_stub, tensorclass_stub
from .imports import statements
from .members import written
from .module_stub import ModuleStubView
from .renaming import Way
from .repeated import own_call, own_functions, own_members, own_variables, passed_on
from .source_imports import declaration_import, passed_on_import, source_name
from .stub_names import StubNames
from .tensorclass_stub import TensorClassStubView

UNCHECKED = "# mypy: ignore-errors"
"""mypy reads the types of a stub, and does not compare its methods with each other and with those of base classes.

Most of what a run with new stubs takes went into that, for reports that were switched off.
"""
_MYPY_CODES = "override, assignment, misc, overload-overlap, mutable-override, explicit-override, type-arg"
CHECKED = f'# mypy: disable-error-code="{_MYPY_CODES}"'
"""What stands there instead where mypy has to find mistakes in a stub, in the tests of what is generated."""

_PYRIGHT_RULES_PYI = (
    "reportIncompatibleMethodOverride",
    "reportIncompatibleVariableOverride",
    "reportOverlappingOverload",
    "reportUnusedImport",
    "reportImplicitOverride",
    "reportInvalidTypeVarUse",
    "reportMissingTypeArgument",
    "reportUnknownParameterType",
    "reportUnknownVariableType",
)
PYI_DIRECTIVES = (
    "# ruff: noqa",
    "# fmt: off",
    "# isort: skip_file",
    UNCHECKED,
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
    functions: tuple[str, ...]
    """The functions and constants of the source that the stub has as well."""
    directives: tuple[str, ...]
    """Comments for checkers and formatters."""


def stub_file(file: FileDecl) -> StubFileView:
    """The stub of a source file's generated module."""
    own = [own_members(declaration, file) for declaration in file.declarations]
    functions, variables = own_functions(file), own_variables(file)
    repeated = {method.name for methods in (*own, functions) for method in methods}.union(variables)
    others = passed_on(file)
    repeated |= {*others, *(functional.name for functional in file.functionals)}
    names = StubNames(file, repeated)
    classes = tuple(
        _stub_class(declaration, names.for_class(), file, methods)
        for declaration, methods in zip(file.declarations, own, strict=True)
    )
    texts = (
        *(f"{functional_stub.text(functional, names)}\n" for functional in file.functionals),
        *(f"{name}: {names.type(type, way=Way.GIVEN)}" for name, type in variables.items()),
        *(written(function, names, "", {}, 0) for function in functions),
    )
    aliases = frozenset({"_t"}).union(names.aliases.used, *(view.imports for view in classes))
    return StubFileView(
        summary=f"Exact types of the classes declared in `{source_name(file)}`.",
        imports=(
            *statements(aliases),
            (*names.imports, declaration_import(file), *([passed_on_import(file, others)] if others else [])),
        ),
        classes=classes,
        functions=texts,
        directives=PYI_DIRECTIVES,
    )


def _stub_class(
    declaration: Declaration, names: StubNames, file: FileDecl, own: tuple[MethodSource, ...]
) -> TensorClassStubView | ModuleStubView:
    match declaration:
        case TensorClassDecl():
            return tensorclass_stub.view(declaration, names, file.related, own)
        case ModuleDecl():
            return module_stub.view(declaration, names, file.related, own, own_call(declaration, file))
