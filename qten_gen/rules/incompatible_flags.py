"""A class combines two flags that contradict each other.

`autocast` converts values to the annotated types, `nocast` keeps them unchanged, and `tensor_only` makes every field a tensor.
No value can satisfy two of them. The generated class would follow one flag and silently ignore the other: with `autocast` and
`nocast`, for example, it would convert.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import TensorClassDecl
from ..model.diagnostics import Diagnostic, Kind
from .rule_input import RuleContext

KIND = Kind("QG105", "incompatible-flags")

EXAMPLE = """
 from qten_gen import TensorClass
 from torch import Tensor


-class Batch(TensorClass, nocast=True, autocast=True):
-      ^^^^^
+class Batch(TensorClass, nocast=True):
     tokens: Tensor
     epoch: int
"""

_PAIRS = (("autocast", "nocast"), ("autocast", "tensor_only"), ("nocast", "tensor_only"))


def check(context: RuleContext) -> Iterator[Diagnostic]:
    declaration = context.declaration
    if not isinstance(declaration, TensorClassDecl):
        return
    inherited: frozenset[str] = frozenset()
    parents = [p for p in context.project.parents(declaration) if isinstance(p, TensorClassDecl)]
    inherited = inherited.union(*(parent.flags for parent in parents))
    for first, second in _PAIRS:
        if {first, second} <= declaration.flags and not any({first, second} <= parent.flags for parent in parents):
            notes = tuple(f"{flag!r} is inherited from a base class" for flag in (first, second) if flag in inherited)
            yield Diagnostic(
                KIND, f"{first!r} and {second!r} cannot be combined", context.name_place, "keep one of them", notes
            )
