"""A field has the name of something that every TensorClass or Module has.

`batch.clone` can be the field or the method, not both. In a TensorClass the flag `shadow` gives such a name to the field;
`batch_size`, `device`, `names` and `lock` stay reserved.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import TensorClassDecl, VirtualDecl
from ..model.diagnostics import Diagnostic, Kind
from .context import RuleContext
from .reserved import ALIASES, ALWAYS, MODULE, TENSORCLASS

KIND = Kind("QG203", "reserved-name")

GOOD = """
from qten_gen import TensorClass
from torch import Tensor


class Batch(TensorClass):
    tokens: Tensor
    scores: Tensor
"""

BAD = """
from qten_gen import TensorClass
from torch import Tensor


class Batch(TensorClass):
    tokens: Tensor
    values: Tensor
    ^^^^^^
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    declaration = context.declaration
    if isinstance(declaration, TensorClassDecl):
        kind, reserved = "TensorClass", ALWAYS if "shadow" in declaration.flags else TENSORCLASS
    else:
        kind, reserved = "Module", MODULE
    if declaration.name in ALIASES:
        message = f"generated code has {declaration.name!r} for a module, so no class can be called that"
        yield Diagnostic(KIND, message, context.name_place, "choose another name")
    for field in context.fields:
        place = field.place / ("name" if isinstance(field, VirtualDecl) else "target")
        if field.name == "self":
            message = "'self' is the object itself in the constructor, so no field can be called that"
            yield Diagnostic(KIND, message, place, "choose another name")
        if field.name in reserved:
            help = (
                "choose another name"
                if field.name in ALWAYS or kind == "Module"
                else "choose another name, or set shadow=True"
            )
            yield Diagnostic(KIND, f"every {kind} has {field.name!r}, so no field can be called that", place, help)
