"""A handler of a subclass returns another type than the handler that it overrides.

Code that is typed for the base may be given the subclass. It would get a result of a type that it does not expect, and no type
checker would notice, because handlers are registered at run time.

The rule compares plain names only: builtins, `Tensor` and declared classes.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import FileDecl, ModuleDecl, RegistrationDecl
from ..model.diagnostics import Diagnostic, Kind
from .context import Project
from .known_types import known_ancestors

KIND = Kind("QG404", "incompatible-handler-override", "warning")

EXAMPLE = """
 from qten_gen import Module
 from torch import Tensor


 class Encoder(Module):
     def forward(self, x: Tensor) -> Tensor:
         return x


 class Counting(Encoder):
     pass


 @Encoder.register(str)
 def encode(encoder: Encoder, text: str) -> int:
     return len(text)


 @Counting.register(str)
-def count(encoder: Counting, text: str) -> str:
-    ^^^^^
-    return text
+def count(encoder: Counting, text: str) -> bool:
+    return bool(text)
"""

_PROMOTED = {"builtins.int": ("builtins.float", "builtins.complex"), "builtins.float": ("builtins.complex",)}
"""The classes that a type checker accepts a number for, besides its own."""


def check_file(file: FileDecl, project: Project) -> Iterator[Diagnostic]:
    for declaration, registration in project.registrations(file.source.module):
        replaced = _replaced(registration, declaration, project)
        if replaced is not None and _unrelated(registration.result, replaced.result, project):
            given, promised = registration.signature.result, replaced.signature.result
            parent = replaced.owner.rpartition(".")[2]
            message = f"this handler returns {given}, but the handler of {parent} that it overrides returns {promised}"
            yield Diagnostic(
                KIND, message, registration.signature.place / "name", f"return {promised}, or a subclass of it"
            )


def _replaced(registration: RegistrationDecl, owner: ModuleDecl, project: Project) -> RegistrationDecl | None:
    """The handler for the same type of the nearest ancestor that has one."""
    for ancestor in project.ancestors(owner):
        for inherited in ancestor.registrations if isinstance(ancestor, ModuleDecl) else ():
            if inherited.type == registration.type:
                return inherited
    return None


def _unrelated(given: str, promised: str, project: Project) -> bool:
    ancestors = known_ancestors(given, project)
    if ancestors is None or known_ancestors(promised, project) is None:
        return False
    return promised not in (*ancestors, *_PROMOTED.get(given, ()))
