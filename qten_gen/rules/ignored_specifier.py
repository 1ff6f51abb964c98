"""A Module with a hand-written `__init__` uses specifiers.

A specifier tells the generated constructor what to create. If the class or a base defines `__init__`, no constructor is
generated, so the specifier has no effect: `module.weight` would raise AttributeError, and `parameters()` would not contain it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import BufferDecl, DerivedDecl, ModuleDecl, ParameterDecl, SubmoduleDecl, declares
from ..model.diagnostics import Diagnostic, Kind
from .context import RuleContext

KIND = Kind("QG306", "ignored-specifier")

GOOD = """
import torch
from qten_gen import Module
from torch import nn


class Scale(Module):
    weight: nn.Parameter

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
"""

BAD = """
from qten_gen import Module, param
from torch import nn


class Scale(Module):
    weight: nn.Parameter = param(8, initializer=nn.init.ones_)
                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

    def __init__(self) -> None:
        super().__init__()
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    declaration = context.declaration
    if not isinstance(declaration, ModuleDecl) or not declaration.custom_init:
        return
    for field in context.module_fields:
        if isinstance(field, ParameterDecl | BufferDecl | SubmoduleDecl | DerivedDecl):
            message = f"{declaration.name} has a hand-written __init__, so the specifier of {field.name} has no effect"
            help = f"assign self.{field.name} in __init__ and keep only the annotation, or remove __init__"
            yield Diagnostic(KIND, message, context.value_place(field.name), help)
    for check in declaration.checks:
        if declares(declaration, check):
            message = f"{declaration.name} has a hand-written __init__, so a check of its arguments has no effect"
            help = "raise an error in __init__, or remove __init__"
            yield Diagnostic(KIND, message, check.place if check.place.steps else context.name_place, help)
