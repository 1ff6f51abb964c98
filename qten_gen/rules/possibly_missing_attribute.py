"""An attribute of a Module exists only after a certain method has run.

A method other than the constructor assigns it, and nothing declares it. Whoever reads it before gets AttributeError, and so
does a copy that was made before. Often the name is a misspelt field: the assignment then has no effect where it was meant to
have one.

The rule looks at Modules with a generated constructor. `__post_init__` and `reset_parameters` belong to it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..common.suggestions import nearest
from ..model import BufferDecl, ModuleDecl, ParameterDecl
from ..model.diagnostics import Diagnostic, Kind
from .reserved import GIVING_WAY, MODULE
from .rule_input import RuleContext

KIND = Kind("QG324", "possibly-missing-attribute", "warning")

EXAMPLE = """
 from qten_gen import Module
 from torch import Tensor


-class Recorder(Module):
+class Counter(Module):
     dim: int

+    def __post_init__(self) -> None:
+        self.calls = 0
+
     def forward(self, x: Tensor) -> Tensor:
-        self.seen = x.detach()
-        ^^^^^^^^^
+        self.calls += 1
         return x
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    declaration = context.declaration
    if not isinstance(declaration, ModuleDecl) or declaration.custom_init or context.source is None:
        return
    known: set[str] = set(MODULE | GIVING_WAY)
    for one in (declaration, *context.project.ancestors(declaration)):
        source = context.project.classes.get(one.qualified)
        if source is None or any(not base.declared and not base.name.startswith("qten_gen.") for base in one.bases):
            return
        known.update(source.attributes, (field.name for field in one.fields), (found.name for found in source.methods))
        known.update(change.name for found in source.methods if found.name in _CONSTRUCTORS for change in found.changes)
        known.update(name for found in source.methods for name in found.registers_later)
    fields = [field.name for field in declaration.fields]
    filling = {
        field.initializer.method
        for field in declaration.fields
        if isinstance(field, ParameterDecl | BufferDecl) and field.initializer is not None
    }
    for method in context.methods:
        if (
            method.name == "__new__"
            or method.name in filling
            or {"builtins.staticmethod", "builtins.classmethod"} & set(method.decorators)
        ):
            continue
        for change in method.changes:
            if change.action != "assign" or change.name in known:
                continue
            known.add(change.name)
            close = nearest(change.name, fields, 0.8)
            message = f"nothing declares {change.name}: it exists only after {method.name} has run"
            help = f"did you mean {close}?" if close else f"assign it in __post_init__ first: self.{change.name} = None"
            yield Diagnostic(KIND, message, change.place, help)


_CONSTRUCTORS = ("__new__", "__init__", "__post_init__", "reset_parameters", "__setstate__")
