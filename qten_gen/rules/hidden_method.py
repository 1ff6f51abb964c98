"""An attribute of a module hides a method that every nn.Module has.

`self.parameters = [...]` in a constructor makes `module.parameters()` a call of a list, and the optimizer, `.to()` and the
state dict rely on that method. `qten-gen check` reports it. A function in the place of the method may be meant.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..model.diagnostics import Kind
from .plain_classes import Finding, PlainClass, attribute_of, own_nodes, owner_of

KIND = Kind("QG325", "hidden-method", "warning")

EXAMPLE = """
 from torch import nn


 class Net(nn.Module):
     def __init__(self) -> None:
         super().__init__()
-        self.buffers = []
-        ^^^^^^^^^^^^
+        self.seen_buffers = []
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

_VALUES = ast.List | ast.Tuple | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.Constant
"""Values that no method can be."""


def check_plain(cls: PlainClass) -> Iterator[Finding]:
    for method in cls.methods:
        owner = owner_of(method)
        for node in own_nodes(method, owner) if owner else ():
            if isinstance(node, ast.Assign) and isinstance(node.value, _VALUES):
                for target in node.targets:
                    name = attribute_of(target, owner)
                    if name in _METHODS:
                        message = f"self.{name} hides the method {name}() that every module has"
                        yield Finding(target, message, "write another name")
