"""A method of a frozen class changes its object.

Assigning a field raises FrozenInstanceError, in `__post_init__` too. An operation in place on the tensor of a field, such as
`self.x.add_(1)` or `self.x[0] = 1`, does not raise, but changes an object that other code relies on not to change, and every
object that shares the tensor.

`replace` makes a new object, and operations without an underscore make new tensors.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import Change, FieldDecl, FieldKind, TensorClassDecl
from ..model.diagnostics import Diagnostic, Kind
from .reserved import TENSORCLASS
from .rule_input import RuleContext

KIND = Kind("QG219", "frozen-mutation", can_be_wrong=True)

EXAMPLE = """
+from typing import Self
+
 from qten_gen import TensorClass
 from torch import Tensor


 class Point(TensorClass, frozen=True):
     x: Tensor

-    def shift(self) -> None:
-        self.x.add_(1)
-        ^^^^^^^^^^^^^^
+    def shifted(self) -> Self:
+        return self.replace(x=self.x + 1)
"""

_TENSORS = (FieldKind.TENSOR, FieldKind.NUMBER, FieldKind.NESTED)


def check(context: RuleContext) -> Iterator[Diagnostic]:
    declaration = context.declaration
    if not isinstance(declaration, TensorClassDecl) or "frozen" not in declaration.flags:
        return
    fields = {field.name: field for field in declaration.fields}
    for method in context.methods:
        if method.name in ("__init__", "__new__") or {"builtins.staticmethod", "builtins.classmethod"} & set(
            method.decorators
        ):
            continue
        for change in method.changes:
            problem = _problem(change, fields)
            if problem is not None:
                message, help = problem
                yield Diagnostic(KIND, f"{declaration.name} is frozen, but {message}", change.place, help)


def _problem(change: Change, fields: dict[str, FieldDecl]) -> tuple[str, str] | None:
    """The problem with a change that a frozen object does not allow, and how to fix it."""
    field = fields.get(change.name)
    if change.action == "in place" and not change.name and change.makes[0] in TENSORCLASS:
        method = change.makes[0]
        return (
            f"{method} changes it in place",
            f"write self.{method.removesuffix('_')}(...), which returns a new object",
        )
    if change.action == "element" and not change.name:
        return "this changes items of it", "make a new object, with cat or where"
    if field is None:
        return None
    if change.action in ("assign", "augment"):
        return f"this assigns {field.name}", f"return self.replace({field.name}=...), which makes a new object"
    if field.kind not in _TENSORS:
        return None
    if change.action == "element":
        return f"this changes elements of {field.name}", f"return self.replace({field.name}=...) with a changed copy"
    if change.action == "in place":
        method = change.makes[0]
        instead = f"return self.replace({field.name}=self.{field.name}.{method.removesuffix('_')}(...))"
        return f"{method} changes {field.name} in place", instead
    return None
