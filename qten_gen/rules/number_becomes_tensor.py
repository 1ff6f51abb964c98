"""A number is stored as a tensor, but the annotation says otherwise.

In a class without flags a number in an `int`, `float`, `bool` or `complex` field becomes a tensor, as in tensordict. The
declaration then says `int` where the instance holds a `Tensor`; only the generated stub says the truth.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import FieldKind
from ..model.diagnostics import Diagnostic, Kind
from .context import RuleContext

KIND = Kind("QG210", "number-becomes-tensor", "warning")

GOOD = """
from qten_gen import TensorClass
from torch import Tensor


class Batch(TensorClass, nocast=True):
    tokens: Tensor
    epoch: int
"""

BAD = """
from qten_gen import TensorClass
from torch import Tensor


class Batch(TensorClass):
    tokens: Tensor
    epoch: int
           ^^^
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    for field in context.tensorclass_fields:
        if field.kind is FieldKind.NUMBER:
            message = f"{field.name} will be a Tensor, although it is annotated {field.type.text}"
            help = "annotate it with Tensor; or give the class nocast=True (kept as it is) or autocast=True (converted)"
            yield Diagnostic(KIND, message, field.type.place, help)
