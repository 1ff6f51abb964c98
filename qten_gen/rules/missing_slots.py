"""A base of a frozen TensorClass has no `__slots__`.

Objects of a TensorClass have slots for their fields and no `__dict__`, so that `batch.tokns = x` raises AttributeError. One
base without `__slots__` gives them a `__dict__`, which takes every attribute. An object of a frozen class would then accept a
misspelt assignment that the class promises to refuse.

Only bases are reported that the run contains, or that exist when the class statement runs.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import TensorClassDecl
from ..model.diagnostics import Diagnostic, Kind
from .context import RuleContext

KIND = Kind("QG110", "missing-slots")

EXAMPLE = """
 from qten_gen import TensorClass
 from torch import Tensor


 class Measured:
+    __slots__ = ()
+
     def norms(self) -> Tensor:
         return self.tokens.norm(dim=-1)


 class Batch(Measured, TensorClass, frozen=True):
-      ^^^^^
     tokens: Tensor
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    declaration = context.declaration
    if not isinstance(declaration, TensorClassDecl) or not declaration.frozen or "open" in declaration.flags:
        return
    for mixin in context.mixins:
        if mixin.adds_dict:
            message = f"{declaration.name} is frozen, but its base {mixin.name} has no __slots__, so objects accept any attribute"
            yield Diagnostic(
                KIND, message, context.name_place, f"write __slots__ = () in {mixin.name}, or set open=True"
            )
