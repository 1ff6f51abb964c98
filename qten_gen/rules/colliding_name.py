"""A method has the name of a field, or a name that generated code uses.

A class has one attribute for each name, so a method and a field of the same name cannot both be read. If the method is inherited,
the field would hide it from code written for the base.

Methods of the declaration override generated ones: a method called `_join` would run in place of the generated method that `cat`
calls. A method called `_tokens` conflicts with the slot of a field `tokens`, so the class statement would raise ValueError.
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
            message = f"{method.name} is both a field and a method of {declaration.name}"
            yield Diagnostic(KIND, message, method.place / "name", "rename one of them")
    private = PRIVATE_NAMES | {storage(name) for name in fields} | {"batch_size"}
    for method in declaration.methods:
        if isinstance(declaration, TensorClassDecl) and method.name in private:
            message = f"generated code uses the name {method.name}"
            yield Diagnostic(KIND, message, method.place / "name", "rename the method")
    own = {field.name: field for field in context.fields}
    for parent in context.project.ancestors(declaration):
        for method in parent.methods:
            if method.name in own:
                place = own[method.name].place / "target"
                yield Diagnostic(
                    KIND, f"{method.name} is a method of the base {parent.name}", place, "rename the field"
                )
