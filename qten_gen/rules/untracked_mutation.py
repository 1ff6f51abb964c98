"""A method changes a source of a cached virtual tensor through `.data`.

With `cached="may_be_stale"`, a value is recomputed when the version counter of a source changes. `.data` is a second tensor
with its own counter, so a write through it leaves the counter of the source unchanged. The module would go on using the old
value, without an error. With `cached=True` this cannot happen, because its sources are no tensors.

The rule looks at the methods of the class itself. It does not see writes from outside, such as `module.weight.data = ...`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import BufferDecl, ModuleDecl, ParameterDecl, VirtualDecl, language
from ..model.diagnostics import Diagnostic, Kind
from .context import RuleContext

KIND = Kind("QG313", "untracked-mutation", "warning")

EXAMPLE = """
 import torch
 from qten_gen import Module, buffer, virtual
 from torch import Tensor, nn


 class Decay(Module):
     size: int
     rate: Tensor = buffer("size", initializer=nn.init.ones_)

     @virtual(cached="may_be_stale", sources=("rate",))
     def factor(self, dtype: torch.dtype, device: torch.device) -> Tensor:
         return torch.exp(-self.rate)

     def double_rate(self) -> None:
-        self.rate.data.mul_(2)
-        ^^^^^^^^^^^^^^
+        self.rate.mul_(2)
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    declaration = context.declaration
    if context.source is None or not isinstance(declaration, ModuleDecl):
        return
    tensors = tuple(f.name for f in declaration.fields if isinstance(f, ParameterDecl | BufferDecl))
    derived = [f for f in declaration.fields if isinstance(f, VirtualDecl) and f.cached == language.MAY_BE_STALE]
    for method in context.source.methods:
        for write in method.data_writes:
            names = [f.name for f in derived if write.name in (f.sources or ())]
            if names and write.name in tensors:
                message = f"this change to {write.name} does not update the cached {' and '.join(names)}"
                yield Diagnostic(KIND, message, write.place, f"change self.{write.name} itself, inside torch.no_grad()")
