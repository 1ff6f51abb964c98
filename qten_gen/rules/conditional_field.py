"""A field is declared under a condition.

Generated code is the same on every machine and for every interpreter, so it cannot contain a field only sometimes. Where the
condition has another value, the class statement would not match the generated class: it would warn that the file is stale, and
build the class in memory. Under `if TYPE_CHECKING:`, a field would be a constructor argument for type checkers that does not
exist at run time.

The same applies to the functions that decide what is generated: `__init__`, `__post_init__`, `forward`, `reset_parameters` and
virtual tensors. Other methods can be conditional, and imports for annotations can be under `TYPE_CHECKING`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import ModuleDecl, language
from ..model.diagnostics import Diagnostic, Kind
from .rule_input import RuleContext, name_of

KIND = Kind("QG212", "conditional-field")

EXAMPLE = """
-import sys
+from typing import TYPE_CHECKING

 from qten_gen import TensorClass
 from torch import Tensor

+if TYPE_CHECKING:
+    from datetime import datetime
+

 class Batch(TensorClass):
     tokens: Tensor
-    if sys.platform == "linux":
-        mask: Tensor
-        ^^^^
+    taken: "datetime | None" = None
"""

_PARTS = ("__init__", "__post_init__", "forward", "reset_parameters")
"""Functions that decide what is generated."""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    if context.source is None:
        return
    absent = 'add when="flag"' if isinstance(context.declaration, ModuleDecl) else "add | None to its type"
    for field in context.source.conditional.fields:
        help = f"declare it without a condition and {absent}, or write a class for each case"
        yield Diagnostic(KIND, f"the field {field.name} is declared under a condition", name_of(field), help)
    for call in (*context.source.conditional.checks, *context.source.for_checkers.checks):
        help = "write the condition in the check: not wide or dim > 1"
        yield Diagnostic(KIND, "a check is declared under a condition", call.place, help)
    for method in context.source.conditional.methods:
        if method.name in _PARTS or language.VIRTUAL in method.decorators:
            help = "define it without a condition, and move the condition into its body"
            yield Diagnostic(KIND, f"{method.name} is defined under a condition", method.place / "name", help)
    if not context.constructs_itself:  # with a hand-written __init__, the annotation only declares an attribute
        for field in context.source.for_checkers.fields:
            help = "move it out of the block; only imports belong there, and annotations can be quoted"
            message = f"type checkers see the field {field.name}, but it does not exist at run time"
            yield Diagnostic(KIND, message, name_of(field), help)
