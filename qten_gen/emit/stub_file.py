"""Generated stubs: the classes of the source, and class statements where there is more to say than a declaration does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..model import FileDecl, FunctionalDecl
from . import layout
from .class_stub import ClassStub, class_stub, handler_call
from .imports import statements
from .offered import offered
from .repeated import own_functions
from .source_imports import declaration_import, passed_on, source_name
from .stub_names import StubNames

_FORMATTERS = ("# ruff: noqa", "# fmt: off", "# isort: skip_file")
UNCHECKED = "# mypy: ignore-errors"
"""mypy reads the types of a stub, and does not compare its methods with each other and with those of base classes."""

_PYRIGHT_RULES_PYI = (
    "reportIncompatibleMethodOverride",
    "reportIncompatibleVariableOverride",
    "reportOverlappingOverload",
    "reportImplicitOverride",
    "reportInvalidTypeVarUse",
    "reportMissingTypeArgument",
    "reportMissingImports",
    "reportMissingModuleSource",
    "reportUnknownParameterType",
    "reportUnknownVariableType",
)
_TY_RULES_PYI = (
    "incompatible-attribute-override",
    "incompatible-method-override",
    "incompatible-mutable-override",
    "subclass-of-final-class",
    "unused-ignore-comment",
)
"""The last is for stubs that need none of the others."""
_CHECKERS = (
    UNCHECKED,
    f"# pyright: {', '.join(f'{rule}=false' for rule in _PYRIGHT_RULES_PYI)}",
    f"# ty: ignore[{', '.join(_TY_RULES_PYI)}]",
    "# pyrefly: ignore-errors",
)
"""A class statement says more exact types than its declaration, and checkers take that for an incompatible override."""


class StubFileView(NamedTuple):
    """The input of the template of a stub."""

    summary: str
    imports: tuple[tuple[str, ...], ...]
    """The statements, in groups with a blank line between them."""
    classes: tuple[ClassStub, ...]
    functions: tuple[str, ...]
    """The functions of the source that give one of these classes."""
    directives: tuple[str, ...]
    """Comments for checkers and formatters."""


def stub_file(file: FileDecl) -> StubFileView:
    """The stub of a source file's generated module."""
    given = offered(file)
    names = StubNames(file, given)
    classes = tuple(
        class_stub(declaration, names, file.related)
        for declaration in file.declarations
        if declaration.qualified in names.exact
    )
    classes += tuple(functional_stub(functional, names) for functional in file.functionals)
    same = [declaration.name for declaration in file.declarations if declaration.qualified not in names.exact]
    functions = own_functions(file, names)
    others = [name for name in given if name not in (*same, *functions)]
    own = [
        *names.imports,
        *([declaration_import(file)] if classes or functions else []),  # the only users of `_decl`
        *passed_on(file, [*same, *others]),
    ]
    return StubFileView(
        summary=f"The classes declared in `{source_name(file)}`, as type checkers see them.",
        imports=(*statements(names.aliases.used), tuple(own)),
        classes=classes,
        functions=tuple(functions.values()),
        directives=(*_FORMATTERS, *(_CHECKERS if classes or functions else ())),
    )


def functional_stub(functional: FunctionalDecl, names: StubNames) -> ClassStub:
    """The class in the stub, which derives from the one of the source. An object without a handler is an error."""
    bases = (f"_decl.{functional.name}", *map(names.generated, functional.parents))
    return ClassStub(
        head=f"class {functional.name}({', '.join(bases)}):",
        doc=layout.docstring(functional.doc or f"`{functional.name}` with the calls of its handlers.", 4),
        lines=tuple(_methods(functional, names)),
    )


def _methods(functional: FunctionalDecl, names: StubNames) -> Iterator[str]:
    for method, is_written in (("__call__", functional.writes_call), ("invoke", functional.writes_invoke)):
        for handler in () if is_written else functional.handlers:
            overload = f"@{names.aliases.use('_t')}.overload\n    " if len(functional.handlers) > 1 else ""
            yield f"{overload}{handler_call(handler, names, method)}"
