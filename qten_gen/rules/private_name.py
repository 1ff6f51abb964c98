"""The name of a field starts with an underscore.

Generated code stores a field `tokens` in the attribute `_tokens`. A field `_tokens` in the same class would read and overwrite
the tensor of `tokens`. A field is also a public parameter of the constructor and a key of the class.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model.diagnostics import Diagnostic, Kind
from .context import RuleContext

KIND = Kind("QG205", "private-name")

GOOD = """
from typing import ClassVar

from qten_gen import TensorClass
from torch import Tensor


class Batch(TensorClass):
    tokens: Tensor
    _registry: ClassVar[dict[str, int]] = {}
"""

BAD = """
from qten_gen import TensorClass
from torch import Tensor


class Batch(TensorClass):
    tokens: Tensor
    _mask: Tensor
    ^^^^^
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    for field in context.fields:
        if field.name.startswith("_"):
            help = f"rename it to {field.name.strip('_') or 'value'}, or annotate it with ClassVar if it belongs to the class"
            yield Diagnostic(KIND, f"the field {field.name} starts with an underscore", field.place / "target", help)
