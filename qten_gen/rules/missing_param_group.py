"""A parameter has no group, in a class that uses groups of the optimizer.

`optimizer_groups` puts it into the group `default`. In a class that names groups for other fields, that is rarely meant: a bias
that somebody adds would be decayed in silence. Write `group="default"` if it is.

A child needs a group too, unless its class names groups itself or is known to have no parameters.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import ModuleDecl, ModuleField, ParameterDecl, SpecifierCall, SubmoduleDecl, Value, declares
from ..model.diagnostics import Diagnostic, Kind
from .rule_input import RuleContext

KIND = Kind("QG342", "missing-param-group")

EXAMPLE = """
-from qten_gen import Module, param
+from qten_gen import Module, param, submodule
 from torch import nn


 class Scale(Module):
     dim: int
-    weight: nn.Parameter = param("dim", initializer=nn.init.ones_)
-                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
+    weight: nn.Parameter = param("dim", initializer=nn.init.ones_, group="default")
     bias: nn.Parameter = param("dim", initializer=nn.init.zeros_, group="no_decay")
+    norm: nn.LayerNorm = submodule(nn.LayerNorm, "dim", group="no_decay")
"""

_WITH_PARAMETERS = frozenset(
    """
    BatchNorm1d BatchNorm2d BatchNorm3d Bilinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d Embedding
    EmbeddingBag GRU GRUCell GroupNorm LSTM LSTMCell LayerNorm Linear MultiheadAttention PReLU RMSNorm RNN RNNCell
    SyncBatchNorm Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer
    """.split()
)
"""The layers of torch that have parameters however they are constructed."""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    declaration = context.declaration
    if not isinstance(declaration, ModuleDecl) or not _uses_groups(declaration):
        return
    for field in declaration.fields:
        if not _needs_group(field, context):
            continue
        kind = "parameter" if isinstance(field, ParameterDecl) else "child"
        place = context.value_place(field.name) if declares(declaration, field) else context.name_place
        message = f"the {kind} {field.name} has no group, but other fields of {declaration.name} have one"
        yield Diagnostic(KIND, message, place, 'write group="default", or one of the others')


def _uses_groups(declaration: ModuleDecl) -> bool:
    return any(isinstance(field, ParameterDecl | SubmoduleDecl) and field.group for field in declaration.fields)


def _needs_group(field: ModuleField, context: RuleContext) -> bool:
    """Whether a field certainly has parameters for which nothing names a group."""
    if isinstance(field, ParameterDecl):
        return field.group is None and field.tie is None
    if not isinstance(field, SubmoduleDecl) or field.group is not None:
        return False
    calls = (field.call, *(each.value for each in field.call.nested if isinstance(each.value, SpecifierCall)))
    made = [call.arguments[0].value for call in calls if call.arguments]
    names = [one.torch_name or one.name for cls in made if isinstance(cls, Value) for one in cls.alternatives]
    return any(_has_ungrouped(name, context, ()) for name in names)


def _has_ungrouped(name: str, context: RuleContext, seen: tuple[str, ...]) -> bool:
    """Whether a class has parameters without naming a group for any; False for one that is not known."""
    if name.startswith("torch.nn."):
        return name.rpartition(".")[2] in _WITH_PARAMETERS
    found = context.project.declarations.get(name)
    if not isinstance(found, ModuleDecl) or name in seen or _uses_groups(found):
        return False
    return any(
        isinstance(field, ParameterDecl)
        or (isinstance(field, SubmoduleDecl) and _has_ungrouped(field.made, context, (*seen, name)))
        for field in found.fields
    )
