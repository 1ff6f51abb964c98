"""A field name starts with an underscore.

Fields are parameters of the constructor and keys of the class, and generated code keeps a field `tokens` in `_tokens`.
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
            help = (
                f"name it {field.name.strip('_') or 'value'}, or annotate it with ClassVar if it belongs to the class"
            )
            yield Diagnostic(KIND, f"the field {field.name} starts with an underscore", field.place / "target", help)
