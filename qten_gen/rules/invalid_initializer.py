"""An initializer does not fill the tensor that it is given.

The constructor allocates each parameter and buffer without values, and an initializer fills it in place, as the functions of
`torch.nn.init` do. `torch.zeros_like` returns another tensor instead, so the field would keep whatever was in memory before. A
number, a tensor or a list cannot be called at all.

A string names a method of the class. It is called with the tensor and can read the config fields.
"""

from __future__ import annotations

from collections.abc import Iterator
from keyword import iskeyword

from ..common.suggestions import did_you_mean
from ..model import BufferDecl, ModuleDecl, ParameterDecl, Value, language
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
    if not isinstance(context.declaration, ModuleDecl):
        return
    for field in context.module_fields:
        if isinstance(field, ParameterDecl | BufferDecl) and field.value is not None:
            problem = _wrong_value(field.name, field.value, context)
            if problem is not None:
                yield Diagnostic(KIND, problem[0], context.argument_place(field.name, "value"), problem[1])
        if isinstance(field, ParameterDecl | BufferDecl) and field.initializer is not None:
            problem = _problem(field.name, field.initializer, context)
            if problem is not None:
                message, help = problem
                yield Diagnostic(KIND, message, context.argument_place(field.name, "initializer"), help)


def _wrong_value(name: str, given: Value, context: RuleContext) -> tuple[str, str] | None:
    """The problem with what computes the value of a field, and how to fix it."""
    if given.method is not None:
        missing = _missing_method(given.method, context, f"define {given.method}(self) -> Tensor, or pass a function")
        return _no_name(given.method, "value") or missing
    is_constant = given.literal is not None or not given.is_callable
    if is_constant or (not given.is_container and kind_of(given, context) is not None):
        shown = given.text if len(given.text) <= _SHOWN else f"{given.text[:_SHOWN]}..."
        help = f"write a function of the module, value=lambda module: {shown}, or the name of a method"
        return f"the value of {name} is {shown}, which is not a function: one object for all instances", help
    return None


def _problem(name: str, given: Value, context: RuleContext) -> tuple[str, str] | None:
    """The problem with the initializer of a field, and how to fix it."""
    if given.method is not None:
        missing = _missing_method(
            given.method, context, f"define {given.method}(self, tensor), or pass a function such as nn.init.ones_"
        )
        return _no_name(given.method, "initializer") or missing
    if given.literal is not None:
        example = f"partial(nn.init.constant_, val={given.literal})"
        return f"the initializer of {name} is {given.literal}, which is not a function", f"write {example}"
    if not given.is_callable and (given.is_container or kind_of(given, context) is None):
        shown = given.text if len(given.text) <= _SHOWN else f"{given.text[:_SHOWN]}..."
        return f"the initializer of {name} is {shown}, which is not a function", _FILLING
    if not given.is_container and kind_of(given, context) is not None:  # a partial may hold a tensor
        return (
            f"the initializer of {name} is not a function, but a tensor or a module",
            _FILLING,
        )
    function = given.torch_name or (given.partial.function if given.partial is not None else "")
    if function.startswith("torch.") and not function.startswith("torch.nn.init.") and not function.endswith("_"):
        return (
            f"{function} does not fill the tensor that it is given, so {name} would stay uninitialised",
            "write a function that fills it in place, such as nn.init.zeros_ or lambda tensor: tensor.normal_()",
        )
    return None


def _no_name(method: str, argument: str) -> tuple[str, str] | None:
    """The problem with a string that is to name a method, which generated code calls by this name."""
    if method.isidentifier() and not iskeyword(method):
        return None
    shown = repr(method if len(method) <= _SHOWN else f"{method[:_SHOWN]}...")
    return (
        f"{shown} is not the name of a method",
        f'write {argument}="name", with a method of this name, or pass a function',
    )


_SHOWN = 60
_FILLING = "write a function that fills the tensor, such as lambda tensor: tensor.copy_(values)"


def _missing_method(method: str, context: RuleContext, otherwise: str) -> tuple[str, str] | None:
    """The problem with a method that a specifier names. Bases that are not declarations may have it."""
    declaration = context.declaration
    lineage = (declaration, *context.project.ancestors(declaration))
    known = {found.name for one in lineage for found in one.methods}
    if context.source is not None:
        known |= set(context.source.attributes)
    bases = (base.name for one in lineage for base in one.bases)
    outside = any(
        base.partition(".")[0] != language.PACKAGE and base not in context.project.declarations for base in bases
    )
    if method in known or outside:
        return None
    help = did_you_mean(method, sorted(known), otherwise)
    return f"{declaration.name} has no method {method!r}", help
