"""A module hides a method that every nn.Module has.

`self.parameters = [...]` in a constructor makes `module.parameters()` a call of a list, and the optimizer, `.to()` and the
state dict rely on that method. A `__call__` of its own runs instead of the one of nn.Module, so hooks and registered handlers
do not run.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import ModuleDecl
from ..model.diagnostics import Diagnostic, Kind
from .rule_input import RuleContext

KIND = Kind("QG325", "hidden-method", "warning")

EXAMPLE = """
 from qten_gen import Module
 from torch import Tensor


 class Net(Module):
     dim: int

-    def __call__(self, x: Tensor) -> Tensor:
-        ^^^^^^^^
+    def forward(self, x: Tensor) -> Tensor:
         return x
"""

_METHODS = frozenset(
    """
    add_module apply bfloat16 buffers children cpu cuda double eval float get_buffer get_parameter get_submodule half
    load_state_dict modules named_buffers named_children named_modules named_parameters parameters register_buffer
    register_forward_hook register_forward_pre_hook register_module register_parameter requires_grad_ state_dict to
    to_empty train zero_grad
    """.split()
)
"""Methods of nn.Module that other code calls on every module."""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    if not isinstance(context.declaration, ModuleDecl):
        return
    for method in context.methods:
        if method.name == "__call__":
            message = (
                f"__call__ of {context.declaration.name} replaces the one of nn.Module, which runs hooks and handlers"
            )
            yield Diagnostic(KIND, message, method.place / "name", "write def forward")
        for change in method.changes:
            if change.action == "assign" and change.name in _METHODS:
                message = f"self.{change.name} hides the method {change.name}() that every module has"
                yield Diagnostic(KIND, message, change.place, "write another name")
