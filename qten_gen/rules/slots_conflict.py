"""Two bases store fields in slots.

Python cannot combine the slots of two unrelated classes. The class statement would raise TypeError: "multiple bases have
instance lay-out conflict". A class with the flag `open` stores its fields in the instance dict, and can be combined with any
other class.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import Declaration, TensorClassDecl
from ..model.diagnostics import Diagnostic, Kind
from .context import Project, RuleContext

KIND = Kind("QG107", "slots-conflict")

EXAMPLE = """
 from qten_gen import TensorClass
 from torch import Tensor


 class Text(TensorClass):
     tokens: Tensor


-class Image(TensorClass):
+class Image(TensorClass, open=True):
     pixels: Tensor


-class Page(Text, Image):
-      ^^^^
+class Page(Text, Image, open=True):
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
    """Those of a class and its ancestors that add slots."""
    return frozenset(
        one.qualified
        for one in (declaration, *project.ancestors(declaration))
        if isinstance(one, TensorClassDecl) and one.own and "open" not in one.flags
    )
