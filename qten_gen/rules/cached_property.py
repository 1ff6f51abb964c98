"""A method of a TensorClass is a `cached_property`.

`functools.cached_property` keeps the value in the `__dict__` of the object. Objects of a TensorClass have slots instead, so the
first access raises TypeError: "No '__dict__' attribute". A value that is derived from a field would be wrong as soon as the
field is assigned, and no operation would index or move it.

A class with the flag `open` has a `__dict__`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import TensorClassDecl
from ..model.diagnostics import Diagnostic, Kind
from .context import RuleContext

KIND = Kind("QG220", "cached-property", can_be_wrong=True)

GOOD = """
from qten_gen import TensorClass
from torch import Tensor


class Batch(TensorClass):
    tokens: Tensor

    @property
    def lengths(self) -> Tensor:
        return (self.tokens != 0).sum(-1)
"""

BAD = """
from functools import cached_property

from qten_gen import TensorClass
from torch import Tensor


class Batch(TensorClass):
    tokens: Tensor

    @cached_property
    def lengths(self) -> Tensor:
        ^^^^^^^
        return (self.tokens != 0).sum(-1)
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    declaration = context.declaration
    if not isinstance(declaration, TensorClassDecl) or "open" in declaration.flags:
        return
    if any(mixin.adds_dict for mixin in context.mixins):
        return
    if any(not base.declared and not base.name.startswith(("qten_gen.", "typing.")) for base in declaration.bases):
        return  # a base may have a __dict__
    for method in context.methods:
        if "functools.cached_property" in method.decorators:
            message = (
                f"cached_property stores {method.name} in __dict__, which objects of {declaration.name} do not have"
            )
            yield Diagnostic(KIND, message, method.place / "name", "write @property, or declare a field")
