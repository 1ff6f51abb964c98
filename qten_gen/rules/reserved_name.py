"""A field has the name of an attribute that every TensorClass or Module has.

The field would hide the attribute: with a field `values`, `batch.values()` would call a tensor, and with a config field
`train`, both `module.train()` and `module.eval()` would raise TypeError.

A field of a TensorClass can be called `data` or `depth`, and takes the place of the attribute. With the flag `shadow`, it can
have the name of any method. The names `batch_size`, `device`, `names` and `lock` stay reserved, because they are arguments of
every constructor.

A field of a Module can be called `config`, `export`, `freeze` or another name that Module adds to nn.Module, and takes the place
of that method. In a Module with a hand-written `__init__`, an annotation is only that, and can have any name.

A class cannot have the name of a builtin that generated code uses, such as `type` or `property`, nor one of the names that
generated modules import by, such as `_rt`. `_Batch_` is the class that is generated for `Batch`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..common.naming import ALIASES, WRITTEN_BUILTINS
from ..model import TensorClassDecl, VirtualDecl
from ..model.diagnostics import Diagnostic, Kind
from .reserved import ALWAYS, MODULE, TENSORCLASS
from .rule_input import RuleContext

KIND = Kind("QG203", "reserved-name")

EXAMPLE = """
 from qten_gen import TensorClass
 from torch import Tensor


 class Batch(TensorClass):
     tokens: Tensor
-    values: Tensor
-    ^^^^^^
+    scores: Tensor
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    declaration = context.declaration
    if isinstance(declaration, TensorClassDecl):
        kind, reserved = "TensorClass", ALWAYS if "shadow" in declaration.flags else TENSORCLASS
    else:
        kind, reserved = "Module", MODULE
    why = _why_no_class(declaration.name)
    if why:
        yield Diagnostic(KIND, f"{why}, so a class cannot have it", context.name_place, "rename the class")
    for field in context.fields:
        place = field.place / ("name" if isinstance(field, VirtualDecl) else "target")
        if field.name == "self":
            message = "'self' is the object itself in the constructor, so a field cannot have this name"
            yield Diagnostic(KIND, message, place, "rename the field")
        if field.name in reserved and not context.constructs_itself:
            help = _help(field.name, kind)
            message = f"every {kind} has an attribute {field.name!r}, so a field cannot have this name"
            yield Diagnostic(KIND, message, place, help)


def _why_no_class(name: str) -> str:
    """Why a class cannot have this name; empty if it can."""
    if name in ALIASES or name in WRITTEN_BUILTINS:
        return f"generated code uses the name {name!r}"
    if name.startswith("__"):
        return f"inside a class, Python mangles the name {name!r}"
    if name.startswith("_") and name.endswith("_"):
        return f"{name!r} is a name for generated classes"
    return ""


def _help(name: str, kind: str) -> str:
    if name in ALWAYS or kind == "Module":
        return "rename the field"
    return "rename the field, or set shadow=True on the class"
