"""A field without a default follows a field that has one.

Fields are the parameters of the constructor, in order, with the inherited fields first. Python does not allow a required
parameter after an optional one, so the generated module would be a SyntaxError. A Module with its own `__init__` can
have them in any order.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import ConfigDecl, FieldDecl, ModuleDecl
from ..model.diagnostics import Diagnostic, Kind
from .rule_input import RuleContext

KIND = Kind("QG202", "field-after-default")

EXAMPLE = """
 from qten_gen import TensorClass
 from torch import Tensor


 class Batch(TensorClass):
+    tokens: Tensor
     mask: Tensor | None = None
-    tokens: Tensor
-    ^^^^^^
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    if isinstance(context.declaration, ModuleDecl) and context.declaration.custom_init:
        return
    own = {field.name for field in context.fields}
    before: str | None = None
    for field in context.declaration.fields:
        if not isinstance(field, FieldDecl | ConfigDecl) or field.kw_only:
            continue
        if field.default is not None:
            before = field.name
        elif before is not None and (field.name in own or before in own):
            place = field.place / "target" if field.name in own else context.name_place
            help = (
                f"give {field.name} a default, move it above {before}, or write {field.name}: ... = field(kw_only=True)"
            )
            yield Diagnostic(KIND, f"{field.name} has no default, but follows {before}, which has one", place, help)
