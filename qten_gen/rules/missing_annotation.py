"""A field specifier is assigned to a name without an annotation, or to a ClassVar.

Only annotated names are fields, and class variables are not. Without an annotation, the specifier stays an ordinary class
attribute: `module.weight` would be the specifier itself, and no parameter would be registered. So it would be missing in
`parameters()` and in the state dict, and the optimizer would not train it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import NO_PATH, NodePath, language
from ..model.diagnostics import Diagnostic, Kind
from .context import RuleContext, name_of

KIND = Kind("QG201", "missing-annotation")

GOOD = """
from qten_gen import Module, param
from torch import nn


class Scale(Module):
    dim: int
    weight: nn.Parameter = param("dim", initializer=nn.init.ones_)
"""

BAD = """
from qten_gen import Module, param
from torch import nn


class Scale(Module):
    dim: int
    weight = param("dim", initializer=nn.init.ones_)
    ^^^^^^
"""

_TYPES = {
    language.PARAM: "nn.Parameter",
    language.BUFFER: "Tensor",
    language.SUBMODULE: "the class of the module",
    language.FIELD: "its type",
}


def check(context: RuleContext) -> Iterator[Diagnostic]:
    if context.source is None:
        for name, specifier in context.declaration.unannotated:
            yield Diagnostic(KIND, *_words(name, specifier))
        return
    for field in context.source.fields:
        if field.annotation is None and field.specifier is not None:
            message, place, help = _words(field.name, field.specifier.name, name_of(field))
            yield Diagnostic(KIND, message, place, help)


def _words(name: str, specifier: str, place: NodePath = NO_PATH) -> tuple[str, NodePath, str]:
    called = specifier.rpartition(".")[2]
    help = f"write {name}: {_TYPES.get(specifier, 'its type')} = {called}(...)"
    return f"the field {name} has no annotation", place, help
