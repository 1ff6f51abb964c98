"""A method has the name of a field, or a name that generated code uses.

A class has one attribute for each name, so a method and a field of the same name cannot both be read. If the method is
inherited, the field would hide it from code written for the base. A constructor argument or derived value cannot take the place
of an inherited virtual tensor either, which is a property that cannot be set. A parameter, a buffer or a submodule can.

Methods of the declaration override generated ones: a method called `_join` would run in place of the generated method that
`cat` calls. A method called `_tokens` conflicts with the slot of a field `tokens`, so the class statement would raise
ValueError.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import PRIVATE_NAMES, ConfigDecl, DerivedDecl, TensorClassDecl, VirtualDecl, storage
from ..model.diagnostics import Diagnostic, Kind
from .rule_input import RuleContext

KIND = Kind("QG204", "colliding-name")

EXAMPLE = """
 from qten_gen import TensorClass
 from torch import Tensor


 class Batch(TensorClass):
     tokens: Tensor
-    lengths: Tensor

     def lengths(self) -> Tensor:
-        ^^^^^^^
         return self.tokens.sum(-1)
"""


_NOT_OURS = frozenset({"_abc_impl"})
"""The attributes of every class with abstract methods, also a mixin."""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    declaration = context.declaration
    fields = {field.name: field for field in declaration.fields if not isinstance(field, VirtualDecl)}
    for method in declaration.methods:
        if method.name in fields:
            message = f"{method.name} is both a field and a method of {declaration.name}"
            yield Diagnostic(KIND, message, method.place / "name", "rename one of them")
    if isinstance(declaration, TensorClassDecl):
        yield from _private(declaration, context)
    own = {field.name: field for field in context.fields}
    for parent in context.project.ancestors(declaration):
        for method in parent.methods:
            if method.name in own:
                place = own[method.name].place / "target"
                yield Diagnostic(
                    KIND, f"{method.name} is a method of the base {parent.name}", place, "rename the field"
                )
    yield from _virtual(context)


def _virtual(context: RuleContext) -> Iterator[Diagnostic]:
    """Plain values in the place of an inherited virtual tensor."""
    for field in context.fields:
        inherited = [
            parent.name
            for parent in context.project.parents(context.declaration)
            for other in parent.fields
            if other.name == field.name and isinstance(other, VirtualDecl)
        ]
        if inherited and isinstance(field, ConfigDecl | DerivedDecl):
            message = (
                f"{field.name} is a virtual tensor of the base {inherited[0]}, so no plain value can be assigned to it"
            )
            yield Diagnostic(
                KIND, message, field.place / "target", "rename the field, or write param(...), buffer(...) or @virtual"
            )


def _private(declaration: TensorClassDecl, context: RuleContext) -> Iterator[Diagnostic]:
    """Names of a TensorClass and of its mixins that generated code uses, and fields that a mixin would hide."""
    names = {field.name for field in declaration.fields}
    private = (PRIVATE_NAMES | {storage(name) for name in names}) - _NOT_OURS
    for method in declaration.methods:
        if method.name in private or method.name == "batch_size":
            message = f"generated code uses the name {method.name}"
            yield Diagnostic(KIND, message, method.place / "name", "rename the method")
    for name in context.attributes:
        if name in private:
            message = f"generated code uses the name {name}"
            yield Diagnostic(KIND, message, context.name_place, "rename the attribute")
    for mixin in context.mixins:
        for name in sorted(mixin.names & private):
            message = f"{mixin.name} defines {name}, a name that generated code uses for {declaration.name}"
            yield Diagnostic(KIND, message, context.name_place, f"rename it in {mixin.name}")
        for name in sorted(mixin.names & names - mixin.abstract) if mixin.is_first else ():
            message = f"{name} is both a field of {declaration.name} and an attribute of {mixin.name}, which would hide the field"
            help = f"rename one of them, or write {mixin.name} behind TensorClass, so that the field replaces the attribute"
            yield Diagnostic(KIND, message, context.name_place, help)
