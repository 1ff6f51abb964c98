"""A number is stored as a tensor, but its annotation says otherwise.

In a class without flags, a number in a field annotated `int`, `float`, `bool` or `complex` becomes a tensor, as in tensordict.
The declaration then says `int` where the object has a `Tensor`: type checkers accept `json.dumps(batch.epoch)`, which raises
TypeError. Only the generated stub has the true type.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import FieldKind
from ..model.diagnostics import Diagnostic, Kind
from .rule_input import RuleContext

KIND = Kind("QG210", "implicit-tensor-conversion", "warning")

EXAMPLE = """
 from qten_gen import TensorClass
 from torch import Tensor


-class Batch(TensorClass):
+class Batch(TensorClass, nocast=True):
     tokens: Tensor
     epoch: int
-           ^^^
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    for field in context.tensorclass_fields:
        if field.kind is FieldKind.NUMBER:
            message = f"{field.name} is annotated {field.type.text}, but is stored as a Tensor"
            help = "annotate it with Tensor, or set nocast=True (keeps numbers) or autocast=True (converts them) on the class"
            yield Diagnostic(KIND, message, field.type.place, help)
