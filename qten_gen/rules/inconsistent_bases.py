"""The bases of a class cannot be combined.

Python raises TypeError at the class statement if the bases have no consistent method resolution order, or if they have
different metaclasses. TensorClass and Module have different metaclasses, and so have Enum and NamedTuple. A declaration can
derive from a protocol, but cannot be one itself. With a dataclass as a base, the class statement would succeed, but the
generated constructor would not set the fields of the dataclass.
"""

from collections.abc import Iterator

from ..model.diagnostics import INCONSISTENT_BASES, Diagnostic
from .rule_input import RuleContext

KIND = INCONSISTENT_BASES

EXAMPLE = """
 from qten_gen import Module, TensorClass
 from torch import Tensor


-class Cell(TensorClass, Module):
-      ^^^^
+class State(TensorClass):
     hidden: Tensor
+
+
+class Cell(Module):
+    dim: int
+
+    def forward(self, state: State) -> Tensor:
+        return state.hidden
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    """For class statements at run time. `link` reports the bases in text, and Python itself what has no order."""
    for mixin in context.statement.mixins:
        if "__dataclass_fields__" in mixin.names or "__attrs_attrs__" in mixin.names:
            message = (
                f"{context.declaration.name} is a declaration, so it cannot derive from the dataclass {mixin.name}"
            )
            help = f"remove {mixin.name} from its bases, or declare a field of that type"
            yield Diagnostic(KIND, message, context.name_place, help)
