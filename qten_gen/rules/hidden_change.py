"""A method writes through `.data` to what a cached virtual tensor is derived from.

A cached value is kept until the version counter of a source moves. `.data` is a second tensor with a counter of its own: a write
through it moves nothing, and the old value stays in use. Reported are writes in the methods of the class itself; those from
elsewhere (`module.weight.data = ...`) are for you to know.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import BufferDecl, ModuleDecl, ParameterDecl, VirtualDecl
from ..model.diagnostics import Diagnostic, Kind
from .context import RuleContext

KIND = Kind("QG313", "hidden-change", "warning")

GOOD = """
import torch
from qten_gen import Module, buffer, virtual
from torch import Tensor, nn


class Decay(Module):
    size: int
    rate: Tensor = buffer("size", initializer=nn.init.ones_)

    @virtual(cached=True)
    def factor(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.exp(-self.rate)

    def double_rate(self) -> None:
        self.rate.mul_(2)
"""

BAD = """
import torch
from qten_gen import Module, buffer, virtual
from torch import Tensor, nn


class Decay(Module):
    size: int
    rate: Tensor = buffer("size", initializer=nn.init.ones_)

    @virtual(cached=True)
    def factor(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.exp(-self.rate)

    def double_rate(self) -> None:
        self.rate.data.mul_(2)
        ^^^^^^^^^^^^^^
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    declaration = context.declaration
    if context.source is None or not isinstance(declaration, ModuleDecl):
        return
    tensors = tuple(f.name for f in declaration.fields if isinstance(f, ParameterDecl | BufferDecl))
    derived = [f for f in declaration.fields if isinstance(f, VirtualDecl) and f.cached]
    for method in context.source.methods:
        for write in method.data_writes:
            names = [f.name for f in derived if write.name in (tensors if f.sources is None else f.sources)]
            if names and write.name in tensors:
                message = f"the cached {' and '.join(names)} will not see this change of {write.name}"
                yield Diagnostic(KIND, message, write.place, f"change self.{write.name} itself, under torch.no_grad()")
