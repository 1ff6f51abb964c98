"""The argument `sources=` of a virtual tensor names something that the module does not have.

A cached virtual tensor is recomputed when one of its sources changes. Sources are config fields, parameters and buffers. For
any other name there is nothing to compare, so the virtual tensor would never be recomputed.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..common.suggestions import did_you_mean
from ..model import BufferDecl, ConfigDecl, ModuleDecl, ParameterDecl, VirtualDecl
from ..model.diagnostics import Diagnostic, Kind
from .context import RuleContext

KIND = Kind("QG312", "unknown-source")

GOOD = """
import torch
from qten_gen import Module, virtual
from torch import Tensor


class Mask(Module):
    size: int

    @virtual(cached=True, sources=("size",))
    def causal(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.ones(self.size, self.size, dtype=dtype, device=device).tril()
"""

BAD = """
import torch
from qten_gen import Module, virtual
from torch import Tensor


class Mask(Module):
    size: int

    @virtual(cached=True, sources=("sise",))
    def causal(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        ^^^^^^
        return torch.ones(self.size, self.size, dtype=dtype, device=device).tril()
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    declaration = context.declaration
    if not isinstance(declaration, ModuleDecl):
        return
    known = [f.name for f in declaration.fields if isinstance(f, ConfigDecl | ParameterDecl | BufferDecl)]
    for field in context.module_fields:
        if isinstance(field, VirtualDecl):
            for name in field.sources or ():
                if name not in known:
                    message = f"{name} is not a config field, parameter or buffer of {declaration.name}"
                    yield Diagnostic(
                        KIND, message, field.place / "name", did_you_mean(name, known, "name one of its fields")
                    )
