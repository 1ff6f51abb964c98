"""A parameter or buffer is not initialised.

The constructor allocates it with `torch.empty`, so it would contain whatever was in memory before: other values in every run,
and sometimes NaN. Pass an `initializer`, or define `reset_parameters` or `__post_init__`, which the constructor calls.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import BufferDecl, ModuleDecl, ParameterDecl
from ..model.diagnostics import Diagnostic, Kind
from .rule_input import RuleContext

KIND = Kind("QG303", "missing-initializer")

EXAMPLE = """
-from qten_gen import Module, param
-from torch import nn
+import torch
+from qten_gen import Module, buffer, param
+from torch import Tensor, nn


 class Scale(Module):
     dim: int
-    weight: nn.Parameter = param("dim")
-                           ^^^^^^^^^^^^
+    weight: nn.Parameter = param("dim", initializer=nn.init.ones_)
+
+
+class Custom(Module):
+    dim: int
+    table: Tensor = buffer("dim")
+
+    def reset_parameters(self) -> None:
+        torch.arange(self.dim, out=self.table)
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    declaration = context.declaration
    if not isinstance(declaration, ModuleDecl) or declaration.custom_reset or declaration.custom_init:
        return
    if declaration.post_init:
        return  # it may fill them, which is checked when an instance is made
    for field in context.module_fields:
        if isinstance(field, ParameterDecl) and field.tie is not None:
            continue  # its path leads to the declaration that initialises it
        if isinstance(field, ParameterDecl | BufferDecl) and field.initializer is None and field.value is None:
            kind = "parameter" if isinstance(field, ParameterDecl) else "buffer"
            help = "add an initializer, such as initializer=nn.init.zeros_, or define reset_parameters in the class"
            yield Diagnostic(
                KIND, f"nothing initialises the {kind} {field.name}", context.value_place(field.name), help
            )
