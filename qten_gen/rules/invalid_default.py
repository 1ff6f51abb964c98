"""The default of a field is a field of another library.

`field(default=...)` of attrs, pydantic, flax, equinox or chex makes an object like any other here: with `x: str = Field(...)`,
every instance that is made without `x` would hold that object. What it returns is annotated as anything, so type checkers accept
it. A default of another type than its field they report themselves.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import ConfigDecl, FieldDecl
from ..model.diagnostics import Diagnostic, Kind
from .rule_input import RuleContext

KIND = Kind("QG213", "invalid-default")

EXAMPLE = """
-from pydantic import Field
-from qten_gen import TensorClass
+from qten_gen import TensorClass, field
 from torch import Tensor


 class Batch(TensorClass):
     tokens: Tensor
-    tags: list[str] = Field(default_factory=list)
-                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^
+    tags: list[str] = field(default_factory=list)
"""

_FOREIGN = {
    "attr.field": "attrs",
    "attr.ib": "attrs",
    "attr.attrib": "attrs",
    "attrs.field": "attrs",
    "pydantic.Field": "pydantic",
    "pydantic.fields.Field": "pydantic",
    "flax.struct.field": "flax",
    "equinox.field": "equinox",
    "chex.field": "chex",
}
"""Functions of other libraries that mean `field` there."""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    if context.constructs_itself:
        return
    for field in context.fields:
        if not isinstance(field, FieldDecl | ConfigDecl) or field.default is None:
            continue
        value = field.default.value
        foreign = next((_FOREIGN[name] for name in value.contains if name in _FOREIGN), None)
        if foreign is not None and not field.default.factory:
            message = f"the default of {field.name} is a field of {foreign}, which qten-gen does not support"
            help = "write field(default=...) or field(default_factory=...) of qten_gen"
            yield Diagnostic(KIND, message, value.place, help)
