"""A Module with a hand-written `__init__` uses specifiers.

If the class or a base defines `__init__`, no constructor is generated, so the specifier has no effect: `module.weight` would
raise AttributeError, and `parameters()` would not contain it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import BufferDecl, ConfigDecl, DerivedDecl, ModuleDecl, ModuleField, ParameterDecl, SubmoduleDecl, declares
from ..model.diagnostics import Diagnostic, Kind
from .rule_input import RuleContext

KIND = Kind("QG306", "ignored-specifier")

EXAMPLE = """
-from qten_gen import Module, param
+import torch
+from qten_gen import Module
 from torch import nn


 class Scale(Module):
-    weight: nn.Parameter = param(8, initializer=nn.init.ones_)
-                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
+    weight: nn.Parameter

-    def __init__(self) -> None:
+    def __init__(self, dim: int) -> None:
         super().__init__()
+        self.weight = nn.Parameter(torch.ones(dim))
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    declaration = context.declaration
    if not isinstance(declaration, ModuleDecl) or not declaration.custom_init:
        return
    reason, way_out = _why(declaration, context)
    for field in context.module_fields:
        if isinstance(field, ParameterDecl | BufferDecl | SubmoduleDecl | DerivedDecl) or _has_specifier(
            field, context
        ):
            message = f"{reason}, so the specifier of {field.name} has no effect"
            help = f"assign self.{field.name} in __init__ and keep only the annotation, or {way_out}"
            yield Diagnostic(KIND, message, context.value_place(field.name), help)
    for check in declaration.checks:
        if declares(declaration, check):
            message = f"{reason}, so a check of its arguments has no effect"
            help = f"raise an error in __init__, or {way_out}"
            yield Diagnostic(KIND, message, check.place if check.place.steps else context.name_place, help)


def _why(declaration: ModuleDecl, context: RuleContext) -> tuple[str, str]:
    """Why no constructor is generated for a class, and what to change so that one is."""
    if _writes_init(declaration):
        return f"{declaration.name} has a hand-written __init__", "remove __init__"
    parents = [parent for parent in context.project.ancestors(declaration) if isinstance(parent, ModuleDecl)]
    writer = next(filter(_writes_init, parents), None)
    if writer is not None:
        return (
            f"{declaration.name} has the hand-written __init__ of {writer.name}",
            f"declare the fields of {writer.name} too",
        )
    keeper = next((each for each in (declaration, *parents) if each.keeps_init), None)
    if keeper is None:
        return f"{declaration.name} has the __init__ of a base from another library", "remove that base"
    if keeper is declaration:
        return f"{declaration.name} has init=False", "remove init=False"
    way_out = f"remove init=False from {keeper.name}, and move its attributes to a base that is not a Module"
    return f"the base {keeper.name} of {declaration.name} has init=False", way_out


def _has_specifier(field: ModuleField, context: RuleContext) -> bool:
    """Whether a config field is declared by `field(...)`, which would stay the value of the class attribute."""
    source = context.field_source(field.name)
    return isinstance(field, ConfigDecl) and source is not None and source.specifier is not None


def _writes_init(declaration: ModuleDecl) -> bool:
    return any(method.name == "__init__" for method in declaration.methods)
