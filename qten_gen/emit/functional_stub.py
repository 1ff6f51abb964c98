"""The stub of a Functional: its calls, by what is registered."""

from __future__ import annotations

from collections.abc import Iterator

from ..model import FunctionalDecl
from . import layout
from .class_stub import ClassStub, handler_call
from .stub_names import StubNames


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
