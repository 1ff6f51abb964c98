"""A field is written like a constant, in capitals.

Every annotated name is a field: an argument of the constructor, and a value of each object. A constant such as `MAX_LENGTH: int
= 512` would be both, and each object could have another one. `ClassVar` makes it a value of the class.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import ConfigDecl, FieldDecl
from ..model.diagnostics import Diagnostic, Kind
from .context import RuleContext

KIND = Kind("QG215", "constant-field", "warning")

EXAMPLE = """
+from typing import ClassVar
+
 from qten_gen import Module


 class Encoder(Module):
-    MAX_LENGTH: int = 512
-    ^^^^^^^^^^
-    dim: int = 8
+    MAX_LENGTH: ClassVar[int] = 512
+    dim: int
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    if context.constructs_itself:
        return
    for field in context.fields:
        if not isinstance(field, FieldDecl | ConfigDecl) or field.default is None:
            continue
        if len(field.name) > 1 and field.name.isupper():
            message = f"{field.name} looks like a constant, but is an argument of the constructor of {context.declaration.name}"
            help = f"write {field.name}: ClassVar[{field.type.text}] = {field.default.value.text}"
            place = field.place / "target" if field.place.steps else field.place
            yield Diagnostic(KIND, message, place, help)
