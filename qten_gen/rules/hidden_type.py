"""An annotation names what the class body has bound to a value, in place of the type of that name.

Python evaluates an annotation where it stands, in the class body. `Tensor: int = 3` binds the name `Tensor` there, so
`mask: Tensor` further down means 3. The value of a field counts for its own annotation too: `date: date = ...` says nothing about
the class `date`. A method hides a type likewise. From Python 3.14 on, fields further down also count. Type checkers report the
name as well.

With `from __future__ import annotations`, and in quotes, a name means what the file binds to it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import HIDDEN, TypeExpr
from ..model.diagnostics import Diagnostic, Kind
from .rule_input import RuleContext

KIND = Kind("QG221", "hidden-type")

EXAMPLE = """
+import torch
 from qten_gen import TensorClass
-from torch import Tensor


 class Batch(TensorClass):
     Tensor: str = "dense"
-    masks: dict[str, Tensor] | None = None
-                     ^^^^^^
+    masks: dict[str, torch.Tensor] | None = None
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    for field in context.fields:
        for hidden in () if context.constructs_itself else _hidden(field.type):
            shown = f"{hidden.text} in the annotation" if hidden.text else "the annotation"
            message = f"{shown} of {field.name} means what the class body binds to that name, not the type"
            help = "use another name in the class body, or write the type in another way, such as torch.Tensor"
            yield Diagnostic(KIND, message, hidden.place, help)


def _hidden(type: TypeExpr) -> Iterator[TypeExpr]:
    """The parts of a type that are hidden."""
    if type.name == HIDDEN:
        yield type
    for argument in type.args:
        if isinstance(argument, TypeExpr):
            yield from _hidden(argument)
