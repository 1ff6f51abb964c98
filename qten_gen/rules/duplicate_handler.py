"""A module has two handlers for the same type.

The second call of `register` raises ValueError when its file is imported. If the handlers are in different files, this happens
only in programs that import both, and which handler is the second depends on the order of the imports. `replace=True` says that
the second handler is meant to take the place of the first.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import FileDecl, ModuleDecl, RegistrationDecl, TypeExpr
from ..model.diagnostics import Diagnostic, Kind
from .context import Project

KIND = Kind("QG401", "duplicate-handler")

EXAMPLE = """
 from qten_gen import Module
 from torch import Tensor


 class Encoder(Module):
     def forward(self, x: Tensor) -> Tensor:
         return x


 @Encoder.register(int)
 def _(encoder: Encoder, count: int) -> int:
     return count


-@Encoder.register(int)
-                  ^^^
-def _(encoder: Encoder, number: int) -> int:
-    return number
+@Encoder.register(str)
+def _(encoder: Encoder, text: str) -> int:
+    return len(text)
"""


def check_file(file: FileDecl, project: Project) -> Iterator[Diagnostic]:
    for declaration in project.declarations.values():
        if not isinstance(declaration, ModuleDecl):
            continue
        first: dict[TypeExpr, RegistrationDecl] = {}
        for registration in declaration.registrations:
            earlier = first.setdefault(registration.type, registration)
            if registration.replaces or earlier is registration:
                continue
            if registration.module == file.source.module:
                message = f"{declaration.name} already has a handler for {registration.type.text}"
                other = f"{earlier.module}.{earlier.handler}"
                help = f"remove one of them; the other is {other}; if this one is to replace it, pass replace=True"
                yield Diagnostic(KIND, message, registration.type.place, help)
