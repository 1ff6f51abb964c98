"""The constructor of an nn.Module among the bases requires arguments.

The generated constructor calls the `__init__` of such a base without arguments, because it does not know which ones the base
expects. So every construction would raise TypeError. The rule also reports the classes of torch.nn that call `reset_parameters`
themselves: the generated one would run before its parameters exist.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import ModuleDecl, VirtualDecl
from ..model.diagnostics import Diagnostic, Kind
from .context import RuleContext

KIND = Kind("QG316", "incompatible-base")

GOOD = """
from qten_gen import Module, param, submodule
from torch import Tensor, nn


class Scaled(Module):
    dim: int
    linear: nn.Linear = submodule(nn.Linear, "dim", "dim")
    scale: nn.Parameter = param("dim", initializer=nn.init.ones_)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x) * self.scale
"""

BAD = """
from qten_gen import Module, param
from torch import Tensor, nn


class Scaled(Module, nn.Linear):
      ^^^^^^
    dim: int
    scale: nn.Parameter = param("dim", initializer=nn.init.ones_)

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) * self.scale
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    declaration = context.declaration
    if not isinstance(declaration, ModuleDecl) or declaration.custom_init:
        return
    constructor = context.module_constructor
    if constructor is not None and constructor.requires:
        message = (
            f"{declaration.name} derives from {constructor.of}, which the generated constructor calls without arguments"
        )
        help = f"declare a submodule of that type, or write an __init__ that calls {constructor.of}.__init__ with its arguments"
        if not any(not isinstance(field, VirtualDecl) for field in declaration.fields):
            help = f"write class {declaration.name}(..., init=False) to keep the constructor of {constructor.of}"
        yield Diagnostic(KIND, message, context.name_place, help)
