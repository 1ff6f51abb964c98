"""The argument `sources=` of a virtual tensor leaves out what its function reads.

A cached value is computed again when one of its sources changes. If the function reads another field, a change of that field
does not count: the module goes on using the old value, without an error. Without `sources=`, everything counts that the
function mentions.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import BufferDecl, ConfigDecl, ModuleDecl, ParameterDecl, VirtualDecl
from ..model.diagnostics import Diagnostic, Kind
from .context import RuleContext

KIND = Kind("QG326", "incomplete-sources", "warning")

GOOD = """
import torch
from qten_gen import Module, buffer, virtual
from torch import Tensor, nn


class Decay(Module):
    size: int
    rate: Tensor = buffer("size", initializer=nn.init.ones_)

    @virtual(cached="may_be_stale", sources=("rate",))
    def factor(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.exp(-self.rate)
"""

BAD = """
import torch
from qten_gen import Module, buffer, virtual
from torch import Tensor, nn


class Decay(Module):
    size: int
    rate: Tensor = buffer("size", initializer=nn.init.ones_)

    @virtual(cached="may_be_stale", sources=("size",))
    def factor(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        ^^^^^^
        return torch.exp(-self.rate) / self.size
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    declaration = context.declaration
    if not isinstance(declaration, ModuleDecl):
        return
    read = {method.name: method.reads for method in context.methods}
    sources = {f.name for f in declaration.fields if isinstance(f, ConfigDecl | ParameterDecl | BufferDecl)}
    for field in context.module_fields:
        if not isinstance(field, VirtualDecl) or field.sources is None or not sources.issuperset(field.sources):
            continue
        if not field.cached:
            message = f"{field.name} is not cached, so its sources have no effect"
            yield Diagnostic(KIND, message, field.place / "name", "write cached=True, or remove sources")
            continue
        left_out = [name for name in read.get(field.name, ()) if name in sources and name not in field.sources]
        if left_out:
            message = f"{field.name} reads {' and '.join(left_out)}, which its sources leave out"
            names = ", ".join(f'"{name}"' for name in (*field.sources, *left_out))
            yield Diagnostic(KIND, message, field.place / "name", f"write sources=({names}), or leave sources out")
