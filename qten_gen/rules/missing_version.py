"""A Module defines `migrate`, but no `version`.

A state dict records the version of the class that saved it, and `migrate` runs if that is lower than the version of the class.
Without `version`, a class has version 1, and so have the state dicts that it saved before. They would be loaded without
migration, so renamed parameters would be reported as missing. Only a state dict without any version would be migrated.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import ModuleDecl
from ..model.diagnostics import Diagnostic, Kind
from .rule_input import RuleContext

KIND = Kind("QG311", "missing-version")

EXAMPLE = """
+from typing import ClassVar
+
 from qten_gen import Module, param
 from torch import Tensor, nn


 class Scale(Module):
+    version: ClassVar[int] = 2
     dim: int
     weight: nn.Parameter = param("dim", initializer=nn.init.ones_)

     @classmethod
     def migrate(cls, state_dict: dict[str, Tensor], version: int) -> None:
-        ^^^^^^^
         if "w" in state_dict:
             state_dict["weight"] = state_dict.pop("w")
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    if context.source is None or not isinstance(context.declaration, ModuleDecl):
        return
    if "version" in context.source.attributes or context.project.ancestors(context.declaration):
        return  # an ancestor may define a version, which is not part of its declaration
    for method in context.source.methods:
        if method.name == "migrate" and "builtins.classmethod" in method.decorators:
            message = f"{context.declaration.name} has version 1, so migrate does not run for state dicts that it saved"
            yield Diagnostic(KIND, message, method.place / "name", "add version: ClassVar[int] = 2")
