"""The stub of a Functional: its calls, by what is registered."""

from __future__ import annotations

from collections.abc import Iterator

from ..model import FunctionalDecl
from . import layout
from .module_stub import handler_call
from .stub_names import StubNames


def text(functional: FunctionalDecl, names: StubNames) -> str:
    """The class in the stub, which derives from the one of the source. An object without a handler is an error."""
    bases = (f"_decl.{functional.name}", *map(names.generated, functional.parents))
    doc = layout.docstring(functional.doc or f"`{functional.name}` with exact types.", 4)
    return "\n    ".join([f"class {functional.name}({', '.join(bases)}):", doc, *_methods(functional, names)])


def _methods(functional: FunctionalDecl, names: StubNames) -> Iterator[str]:
    for method, is_written in (("__call__", functional.writes_call), ("invoke", functional.writes_invoke)):
        for handler in () if is_written else functional.handlers:
            if len(functional.handlers) > 1:
                yield f"@{names.aliases.use('_t')}.overload"
            yield handler_call(handler, names, method)
