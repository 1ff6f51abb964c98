"""A field and a method have the same name, or a method has the name of something that generated code needs.

A class has one attribute of a name. The method would hide the field, or, in a child, the field would hide what code written for
the parent calls. Methods called `_map` or `_join` would take the place of generated ones, and `_tokens` that of the storage of a
field `tokens`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import PRIVATE_NAMES, TensorClassDecl, VirtualDecl, storage
from ..model.diagnostics import Diagnostic, Kind
from .context import RuleContext

KIND = Kind("QG204", "colliding-name")

GOOD = """
from qten_gen import TensorClass
from torch import Tensor


class Batch(TensorClass):
    tokens: Tensor

    def lengths(self) -> Tensor:
        return self.tokens.sum(-1)
"""

BAD = """
from qten_gen import TensorClass
from torch import Tensor


class Batch(TensorClass):
    tokens: Tensor
    lengths: Tensor

    def lengths(self) -> Tensor:
        ^^^^^^^
        return self.tokens.sum(-1)
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    declaration = context.declaration
    fields = {field.name: field for field in declaration.fields if not isinstance(field, VirtualDecl)}
    for method in declaration.methods:
        if method.name in fields:
            message = f"{method.name} is a field of {declaration.name} and a method of it"
            yield Diagnostic(KIND, message, method.place / "name", "rename one of them")
    private = PRIVATE_NAMES | {storage(name) for name in fields} | {"batch_size"}
    for method in declaration.methods:
        if isinstance(declaration, TensorClassDecl) and method.name in private:
            message = f"{method.name} is a name that generated code uses"
            yield Diagnostic(KIND, message, method.place / "name", "rename the method")
    own = {field.name: field for field in context.fields}
    for parent in context.project.ancestors(declaration):
        for method in parent.methods:
            if method.name in own:
                place = own[method.name].place / "target"
                yield Diagnostic(
                    KIND, f"{method.name} is a method of the base {parent.name}", place, "rename the field"
                )
