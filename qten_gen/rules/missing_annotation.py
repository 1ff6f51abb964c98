"""A field specifier is assigned to a name without an annotation, or to a ClassVar.

Only annotated names are fields, and class variables are not. Without an annotation, the specifier stays an ordinary class
attribute: `module.weight` would be the specifier itself, and no parameter would be registered. So it would be missing in
`parameters()` and in the state dict, and the optimizer would not train it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import SpecifierCall, Value, language
from ..model.diagnostics import Diagnostic, Kind
from .rule_input import RuleContext, name_of

KIND = Kind("QG201", "missing-annotation")

EXAMPLE = """
 from qten_gen import Module, param
 from torch import nn


 class Scale(Module):
     dim: int
-    weight = param("dim", initializer=nn.init.ones_)
-    ^^^^^^
+    weight: nn.Parameter = param("dim", initializer=nn.init.ones_)
"""

_TYPES = {
    language.PARAM: "nn.Parameter",
    language.BUFFER: "Tensor",
    language.SUBMODULE: "the class of the module",
    language.FIELD: "its type",
    language.DERIVED: "int",
}


def check(context: RuleContext) -> Iterator[Diagnostic]:
    for field in context.field_sources:
        if field.annotation is None and field.specifier is not None and field.specifier.name != language.VIRTUAL:
            called = field.specifier.name.rpartition(".")[2]
            help = f"write {field.name}: {_type(field.specifier)} = {called}(...)"
            yield Diagnostic(KIND, f"the field {field.name} has no annotation", name_of(field), help)


def _type(call: SpecifierCall) -> str:
    """The annotation of a field with this specifier; the class of a child, if the call names it."""
    first = call.positional[0].value if call.name == language.SUBMODULE and call.positional else None
    if isinstance(first, Value) and first.literal is None and first.text.replace(".", "").isidentifier():
        return first.text
    return _TYPES.get(call.name, "its type")
