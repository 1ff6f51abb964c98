"""A derived value is computed from itself, directly or by way of others.

The constructor computes each derived value after those that it mentions, in whatever order they are declared. Where they mention
each other, there is no such order, and the constructor would raise UnboundLocalError.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import DerivedDecl, ModuleDecl
from ..model.derivations import cycle, derived_values
from ..model.diagnostics import Diagnostic, Kind
from .rule_input import RuleContext

KIND = Kind("QG332", "circular-value")

EXAMPLE = """
 from qten_gen import Module, derived


 class Attention(Module):
+    dim: int
     heads: int = 4
-    head_dim: int = derived("inner // heads")
-                            ^^^^^^^^^^^^^^^^
+    head_dim: int = derived("dim // heads")
     inner: int = derived("head_dim * heads")
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    if not isinstance(context.declaration, ModuleDecl):
        return
    derived = derived_values(context.declaration.fields)
    reported: set[str] = set()
    for field in context.module_fields:
        found = cycle(field.name, derived) if isinstance(field, DerivedDecl) and field.name not in reported else ()
        if found:
            reported.update(found)
            source = context.field_source(field.name)
            given = source.specifier.positional if source is not None and source.specifier is not None else ()
            place = given[0].place if given else context.value_place(field.name)
            message = f"{field.name} is computed from itself: {' -> '.join(found)}"
            yield Diagnostic(KIND, message, place, "compute one of them from config fields alone")
