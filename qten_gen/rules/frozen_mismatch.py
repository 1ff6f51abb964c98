"""A frozen class derives from a mutable one, or the reverse.

Code that is typed for a mutable base may assign to its fields, and would raise FrozenInstanceError for a frozen subclass. Code
that is typed for a frozen base relies on fields that do not change, and a mutable subclass would break that. Type checkers
reject both, as they do for dataclasses. They look at the class statement alone, so a subclass of a frozen class repeats
`frozen=True`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import TensorClassDecl
from ..model.diagnostics import Diagnostic, Kind
from .rule_input import RuleContext

KIND = Kind("QG106", "frozen-mismatch")

EXAMPLE = """
 from qten_gen import TensorClass
 from torch import Tensor


-class Batch(TensorClass):
+class Batch(TensorClass, frozen=True):
     tokens: Tensor


 class Marked(Batch, frozen=True):
-      ^^^^^^
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
