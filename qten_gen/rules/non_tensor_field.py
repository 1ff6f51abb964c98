"""A class with the flag `tensor_only` has a field that is not a tensor.

The flag promises that every field is a tensor or another TensorClass. A field annotated `str` would be stored as a Python
value, so code that relies on the promise would meet a string.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import TensorClassDecl
from ..model.diagnostics import Diagnostic, Kind
from .rule_input import RuleContext

KIND = Kind("QG209", "non-tensor-field")

EXAMPLE = """
 from qten_gen import TensorClass
 from torch import Tensor


 class Batch(TensorClass, tensor_only=True):
     tokens: Tensor
-    group: str
-           ^^^
+    mask: Tensor | None = None
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    declaration = context.declaration
    if not isinstance(declaration, TensorClassDecl) or "tensor_only" not in declaration.flags:
        return
    for field in context.tensorclass_fields:
        if field.kind.is_static:
            help = "annotate it with Tensor, or remove tensor_only"
            yield Diagnostic(
                KIND, f"{field.name} is not a tensor, but {declaration.name} is tensor_only", field.type.place, help
            )
