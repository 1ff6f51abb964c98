"""A handler of a subclass gives way to a handler of its parent, because that one is for a more specific type.

The object decides before the module does: an object of the more specific type runs the parent's handler, also when the subclass
is called. Who wrote the handler of the subclass may have expected it to run for all objects of its type.

The rule compares plain names only: builtins, `Tensor` and declared classes.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import FileDecl, ModuleDecl, RegistrationDecl
from ..model.diagnostics import Diagnostic, Kind
from .context import Project
from .known_types import known_ancestors

KIND = Kind("QG405", "shadowed-handler", "warning")

EXAMPLE = """
 from qten_gen import Module
 from torch import Tensor


 class Encoder(Module):
     def forward(self, x: Tensor) -> Tensor:
         return x


 class Counting(Encoder):
     pass


 @Encoder.register(bool)
 def encode(encoder: Encoder, flag: bool) -> int:
     return 1


 @Counting.register(int)
-                   ^^^
 def count(encoder: Counting, number: int) -> int:
     return number
+
+
+@Counting.register(bool)
+def count_flag(encoder: Counting, flag: bool) -> int:
+    return int(flag)
"""


def check_file(file: FileDecl, project: Project) -> Iterator[Diagnostic]:
    for declaration, registration in project.registrations(file.source.module):
        for inherited in _overtaking(registration, declaration, project):
            parent, type = inherited.owner.rpartition(".")[2], inherited.type.text
            message = (
                f"{declaration.name} runs the handler of {parent} for {type} instead of this one: {type} is more specific"
                f" than {registration.type.text}"
            )
            help = f"register a handler of {declaration.name} for {type} too"
            yield Diagnostic(KIND, message, registration.type.place, help)


def _overtaking(registration: RegistrationDecl, owner: ModuleDecl, project: Project) -> Iterator[RegistrationDecl]:
    """The handlers of ancestors for more specific types, where the class has none for them."""
    seen = {own.type.name for own in owner.registrations}
    for ancestor in project.ancestors(owner):
        for inherited in ancestor.registrations if isinstance(ancestor, ModuleDecl) else ():
            name = inherited.type.name
            if name not in seen and registration.type.name in (known_ancestors(name, project) or ()):
                yield inherited
            seen.add(name)
