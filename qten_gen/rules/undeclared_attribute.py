"""A method of a TensorClass assigns an attribute that is not declared.

Objects of a TensorClass have slots for their fields and no `__dict__`, so the assignment raises AttributeError when the method
runs. Type checkers accept it, because an assignment to `self` declares an attribute for them.

A class with the flag `open` takes any attribute, and so does one with a base without `__slots__`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..common.suggestions import did_you_mean
from ..model import TensorClassDecl
from ..model.diagnostics import Diagnostic, Kind
from .context import RuleContext
from .reserved import TENSORCLASS

KIND = Kind("QG218", "undeclared-attribute", can_be_wrong=True)

GOOD = """
from qten_gen import TensorClass
from torch import Tensor


class Batch(TensorClass):
    tokens: Tensor
    lengths: Tensor | None = None

    def measure(self) -> None:
        self.lengths = (self.tokens != 0).sum(-1)
"""

BAD = """
from qten_gen import TensorClass
from torch import Tensor


class Batch(TensorClass):
    tokens: Tensor

    def measure(self) -> None:
        self.lengths = (self.tokens != 0).sum(-1)
        ^^^^^^^^^^^^
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    declaration = context.declaration
    if not isinstance(declaration, TensorClassDecl) or "open" in declaration.flags or context.source is None:
        return
    ancestors = [declaration, *context.project.ancestors(declaration)]
    if not all(
        base.declared or base.name.startswith(("qten_gen.", "typing.")) for one in ancestors for base in one.bases
    ):
        return
    fields = [field.name for field in declaration.fields]
    known = {*fields, *TENSORCLASS, "data", "depth", "__dict__", "__class__"}
    for one in ancestors:
        source = context.project.classes.get(one.qualified)
        if not isinstance(one, TensorClassDecl) or source is None or source.decorators:
            return
        known.update(method.name for method in source.methods)
        known.update(source.attributes)
        if {"__slots__", "__setattr__"} & known:
            return
    for method in context.methods:
        if {"builtins.staticmethod", "builtins.classmethod"} & set(method.decorators) or method.name == "__new__":
            continue
        for change in method.changes:
            if change.action == "assign" and change.name not in known:
                message = f"{declaration.name} has no field {change.name}, and its objects accept no other attributes"
                otherwise = f"declare {change.name} in the class body, or add the flag open=True"
                yield Diagnostic(KIND, message, change.place, did_you_mean(change.name, fields, otherwise))
