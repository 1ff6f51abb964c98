"""A field is declared under a condition.

What is generated is the same on every machine and for every interpreter, so a declaration has no fields that are there at times.
Under `if TYPE_CHECKING:` a field would be an argument to a checker and none to the program. The same goes for the functions that
say what is generated: `__init__`, `__post_init__`, `forward`, `reset_parameters` and virtual tensors. Others may stand under any
condition, and imports for annotations under `TYPE_CHECKING`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import ModuleDecl, language
from ..model.diagnostics import Diagnostic, Kind
from .context import RuleContext, name_of

KIND = Kind("QG212", "conditional-field")

GOOD = """
from typing import TYPE_CHECKING

from qten_gen import TensorClass
from torch import Tensor

if TYPE_CHECKING:
    from datetime import datetime


class Batch(TensorClass):
    tokens: Tensor
    taken: "datetime | None" = None
"""

BAD = """
import sys

from qten_gen import TensorClass
from torch import Tensor


class Batch(TensorClass):
    tokens: Tensor
    if sys.platform == "linux":
        mask: Tensor
        ^^^^
"""

_PARTS = ("__init__", "__post_init__", "forward", "reset_parameters")
"""Functions that say what is generated."""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    if context.source is None:
        return
    absent = 'given when="flag"' if isinstance(context.declaration, ModuleDecl) else "with | None in its type"
    for field in context.source.conditional.fields:
        help = f"declare it without a condition, {absent} if it may be absent, or write a class for each case"
        yield Diagnostic(KIND, f"the field {field.name} is declared under a condition", name_of(field), help)
    for method in context.source.conditional.methods:
        if method.name in _PARTS or language.VIRTUAL in method.decorators:
            help = "define it without a condition, and decide inside"
            yield Diagnostic(KIND, f"{method.name} is defined under a condition", method.place / "name", help)
    if not context.constructs_itself:  # there, one for checkers alone tells them of an attribute
        for field in context.source.for_checkers.fields:
            help = "take it out of the block; only imports need to stay there, and annotations may be in quotes"
            message = f"the field {field.name} is there for type checkers alone, and not when the program runs"
            yield Diagnostic(KIND, message, name_of(field), help)
