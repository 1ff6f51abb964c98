"""A tied parameter has an initializer, a dtype or `requires_grad` of its own.

A tied parameter is the parameter at that path under a second name: a parameter of the module itself, or of a child, as in
`"embed.weight"`. It is created and initialised where it is declared, so an initialiser or dtype of the tie would have no effect.

The constructor looks the path up when it reaches the field. It raises AttributeError if the path is wrong or is declared further
down, and ValueError if the shapes differ.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import ModuleDecl, ParameterDecl
from ..model.diagnostics import Diagnostic, Kind
from .context import RuleContext

KIND = Kind("QG309", "invalid-tie")

GOOD = """
from qten_gen import Module, param, submodule
from torch import nn


class Model(Module):
    vocab: int
    dim: int
    embed: nn.Embedding = submodule(nn.Embedding, "vocab", "dim")
    head: nn.Parameter = param("vocab", "dim", tie="embed.weight")
"""

BAD = """
from qten_gen import Module, param, submodule
from torch import nn


class Model(Module):
    vocab: int
    dim: int
    embed: nn.Embedding = submodule(nn.Embedding, "vocab", "dim")
    head: nn.Parameter = param("vocab", "dim", tie="embed.weight", initializer=nn.init.zeros_)
                                                   ^^^^^^^^^^^^^^
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    if not isinstance(context.declaration, ModuleDecl):
        return
    for field in context.module_fields:
        if isinstance(field, ParameterDecl) and field.tie is not None:
            own = next(_own_arguments(field), None)
            if own is not None:
                message = f"{field.name} is tied to {field.tie}, so it cannot have its own {own}"
                help = f"remove {own}, or pass it where the parameter is declared"
                yield Diagnostic(KIND, message, context.argument_place(field.name, "tie"), help)


def _own_arguments(field: ParameterDecl) -> Iterator[str]:
    """The arguments of a tie that only the parameter itself can have."""
    given = {
        "initializer": field.initializer is not None,
        "dtype": field.dtype is not None,
        "requires_grad": not field.requires_grad,
    }
    return (name for name, is_given in given.items() if is_given)
