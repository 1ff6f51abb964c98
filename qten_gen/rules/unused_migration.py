"""A Module has `migrate`, and nothing that makes it run.

A state dict notes the version of the class that saved it. `migrate` is called for those whose version is below the class's, and
a class that says nothing has version 1, as every module had before.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import ModuleDecl
from ..model.diagnostics import Diagnostic, Kind
from .context import RuleContext

KIND = Kind("QG311", "unused-migration")

GOOD = """
from typing import ClassVar

from qten_gen import Module, param
from torch import Tensor, nn


class Scale(Module):
    version: ClassVar[int] = 2
    dim: int
    weight: nn.Parameter = param("dim", initializer=nn.init.ones_)

    @classmethod
    def migrate(cls, state_dict: dict[str, Tensor], version: int) -> None:
        if "w" in state_dict:
            state_dict["weight"] = state_dict.pop("w")
"""

BAD = """
from qten_gen import Module, param
from torch import Tensor, nn


class Scale(Module):
    dim: int
    weight: nn.Parameter = param("dim", initializer=nn.init.ones_)

    @classmethod
    def migrate(cls, state_dict: dict[str, Tensor], version: int) -> None:
        ^^^^^^^
        if "w" in state_dict:
            state_dict["weight"] = state_dict.pop("w")
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    if context.source is None or not isinstance(context.declaration, ModuleDecl):
        return
    if "version" in context.source.attributes or context.project.ancestors(context.declaration):
        return  # an ancestor may have a version, which its declaration does not tell
    for method in context.source.methods:
        if method.name == "migrate":
            message = f"{context.declaration.name} has version 1, so its migrate is never called"
            yield Diagnostic(KIND, message, method.place / "name", "write version: ClassVar[int] = 2")
