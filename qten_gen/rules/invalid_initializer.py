"""An initializer does not fill the tensor that it is given.

The constructor allocates each parameter and buffer without values, and an initializer fills it in place, as the functions of
`torch.nn.init` do. `torch.zeros_like` returns another tensor instead, so the field would keep whatever was in memory before. A
module can be called, and does the same.

A string names a method of the class. It is called with the tensor and can read the config fields.
"""

from __future__ import annotations

from collections.abc import Iterator
from keyword import iskeyword

from ..model import BufferDecl, ParameterDecl, Value
from ..model.diagnostics import Diagnostic, Kind
from .rule_input import RuleContext
from .shared_object import kind_of

KIND = Kind("QG315", "invalid-initializer")

EXAMPLE = """
-import torch
 from qten_gen import Module, param
-from torch import nn
+from torch import Tensor, nn


 class Scale(Module):
     dim: int
-    weight: nn.Parameter = param("dim", initializer=torch.zeros_like)
-                                                    ^^^^^^^^^^^^^^^^
+    shift: nn.Parameter = param("dim", initializer=nn.init.zeros_)
+    weight: nn.Parameter = param("dim", initializer="fill")
+
+    def fill(self, tensor: Tensor) -> None:
+        tensor.fill_(self.dim**-0.5)
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    for field in context.module_fields:
        if isinstance(field, ParameterDecl | BufferDecl):
            for argument, given in (("value", field.value), ("initializer", field.initializer)):
                problem = None if given is None else _problem(field.name, argument, given, context)
                if problem is not None:
                    yield Diagnostic(KIND, problem[0], context.argument_place(field.name, argument), problem[1])


def _problem(name: str, argument: str, given: Value, context: RuleContext) -> tuple[str, str] | None:
    """The problem with what computes or fills a field, and how to fix it."""
    if given.method is not None:  # which generated code calls by this name
        if given.method.isidentifier() and not iskeyword(given.method):
            return None
        help = f'write {argument}="name", with a method of this name, or pass a function'
        return f"{given.method!r} is not the name of a method", help
    if not given.is_container and kind_of(given, context) is not None:  # a partial may hold a tensor
        message = f"the {argument} of {name} is not a function, but a tensor or a module: one for all instances"
        return message, "write a function, such as lambda tensor: tensor.copy_(values)"
    function = given.torch_name or (given.partial.function if given.partial is not None else "")
    fills = not function.startswith("torch.") or function.startswith("torch.nn.init.") or function.endswith("_")
    if argument == "initializer" and not fills:
        return (
            f"{function} does not fill the tensor that it is given, so {name} would stay uninitialised",
            "write a function that fills it in place, such as nn.init.zeros_ or lambda tensor: tensor.normal_()",
        )
    return None
