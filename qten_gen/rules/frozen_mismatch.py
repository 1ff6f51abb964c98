"""A frozen class derives from one that is not, or the reverse.

Code that holds the parent's type would write to a frozen child, or trust a child that can change. Type checkers refuse both for
dataclasses, and for the same reason `frozen=True` is repeated in a child of a frozen class.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import TensorClassDecl
from ..model.diagnostics import Diagnostic, Kind
from .context import RuleContext

KIND = Kind("QG106", "frozen-mismatch")

GOOD = """
from qten_gen import TensorClass
from torch import Tensor


class Batch(TensorClass, frozen=True):
    tokens: Tensor


class Marked(Batch, frozen=True):
    mask: Tensor
"""

BAD = """
from qten_gen import TensorClass
from torch import Tensor


class Batch(TensorClass):
    tokens: Tensor


class Marked(Batch, frozen=True):
      ^^^^^^
    mask: Tensor
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    declaration = context.declaration
    if not isinstance(declaration, TensorClassDecl):
        return
    frozen = _says_frozen(context, declaration)
    for parent in context.project.parents(declaration):
        if not isinstance(parent, TensorClassDecl) or not parent.fields or parent.frozen == frozen:
            continue
        if parent.frozen:
            message = f"{declaration.name} is not frozen, but its base {parent.name} is"
            help = f"write class {declaration.name}({parent.name}, frozen=True)"
        else:
            message = f"{declaration.name} is frozen, but its base {parent.name} is not"
            help = f"make {parent.name} frozen too, or leave {declaration.name} mutable"
        yield Diagnostic(KIND, message, context.name_place, help)


def _says_frozen(context: RuleContext, declaration: TensorClassDecl) -> bool:
    """Whether the class statement itself says so; without a statement to look at, whether the class is."""
    if context.source is None:
        return declaration.frozen
    keyword = any(name == "frozen" and value.literal == "True" for name, value in context.source.keywords)
    return keyword or any("frozen" in base.args for base in context.source.bases)
