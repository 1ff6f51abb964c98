"""A declaration is decorated with `dataclass`, or a similar decorator of attrs, pydantic or tensordict.

qten-gen already generates the constructor and the methods of a declaration. The decorator would replace the constructor by its
own, which does not accept `batch_size` or `device`: constructing an object with a batch size would raise TypeError.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model.diagnostics import Diagnostic, Kind
from ..model.foreign_classes import CLASS_MAKERS
from .rule_input import RuleContext

KIND = Kind("QG109", "incompatible-decorator")

EXAMPLE = """
-from dataclasses import dataclass
-
 from qten_gen import TensorClass
 from torch import Tensor


-@dataclass
- ^^^^^^^^^
 class Batch(TensorClass):
     tokens: Tensor
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    name = context.declaration.name
    for decorator, place in context.source.decorators if context.source is not None else ():
        if decorator in CLASS_MAKERS:
            short = decorator.rpartition(".")[2]
            yield Diagnostic(KIND, f"{short} would replace the constructor of {name}", place, f"remove @{short}")
