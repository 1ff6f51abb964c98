"""Two bases store fields in slots.

Python cannot lay out an instance that has the slots of two unrelated classes. With the flag `open` a class keeps its fields in
the instance's dict, and combines with any other.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import Declaration, TensorClassDecl
from ..model.diagnostics import Diagnostic, Kind
from .context import Project, RuleContext

KIND = Kind("QG107", "slots-conflict")

GOOD = """
from qten_gen import TensorClass
from torch import Tensor


class Text(TensorClass):
    tokens: Tensor


class Image(TensorClass, open=True):
    pixels: Tensor


class Page(Text, Image, open=True):
    layout: Tensor
"""

BAD = """
from qten_gen import TensorClass
from torch import Tensor


class Text(TensorClass):
    tokens: Tensor


class Image(TensorClass):
    pixels: Tensor


class Page(Text, Image):
      ^^^^
    layout: Tensor
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    parents = list(context.project.parents(context.declaration))
    layouts = [_slotted(parent, context.project) for parent in parents]
    for position, (parent, layout) in enumerate(zip(parents, layouts, strict=True)):
        for other, other_layout in zip(parents[:position], layouts[:position], strict=True):
            if layout - other_layout and other_layout - layout:
                message = f"{other.name} and {parent.name} both store fields in slots"
                yield Diagnostic(
                    KIND,
                    message,
                    context.name_place,
                    f"declare one of them with open=True: class {parent.name}(..., open=True)",
                )


def _slotted(declaration: Declaration, project: Project) -> frozenset[str]:
    """The class and its ancestors, as far as they add slots of their own."""
    return frozenset(
        one.qualified
        for one in (declaration, *project.ancestors(declaration))
        if isinstance(one, TensorClassDecl) and one.own and "open" not in one.flags
    )
