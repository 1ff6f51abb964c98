"""The argument `sources=` of a virtual tensor names something that cannot be compared.

A cached virtual tensor is recomputed when one of its sources changes. Sources are config fields and derived values, and with
`cached="may_be_stale"` parameters and buffers too. Their version counters miss some changes, so with `cached=True` nothing that
is derived from them is kept. A module with its own `__init__` may name any attribute.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..common.suggestions import did_you_mean
from ..model import BufferDecl, ConfigDecl, DerivedDecl, ModuleDecl, ParameterDecl, VirtualDecl
from ..model.diagnostics import Diagnostic, Kind
from .rule_input import RuleContext

KIND = Kind("QG312", "unknown-source")

EXAMPLE = """
 import torch
 from qten_gen import Module, virtual
 from torch import Tensor


 class Mask(Module):
     size: int

-    @virtual(cached=True, sources=("sise",))
+    @virtual(cached=True, sources=("size",))
     def causal(self, dtype: torch.dtype, device: torch.device) -> Tensor:
-        ^^^^^^
         return torch.ones(self.size, self.size, dtype=dtype, device=device).tril()
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    declaration = context.declaration
    if not isinstance(declaration, ModuleDecl):
        return
    tensors = [f.name for f in declaration.fields if isinstance(f, ParameterDecl | BufferDecl)]
    known = [*tensors, *(f.name for f in declaration.fields if isinstance(f, ConfigDecl | DerivedDecl))]
    for field in context.module_fields:
        if not isinstance(field, VirtualDecl):
            continue
        for name in field.sources or ():
            place = field.place / "name"
            if name in tensors and field.cached is True:
                message = f"{name} is a tensor, and not every change of a tensor can be noticed"
                yield Diagnostic(KIND, message, place, 'leave cached out, or write cached="may_be_stale"')
            elif name not in known and not declaration.custom_init:
                message = f"{name} is not a config field, derived value, parameter or buffer of {declaration.name}"
                yield Diagnostic(KIND, message, place, did_you_mean(name, known, "name one of its fields"))
