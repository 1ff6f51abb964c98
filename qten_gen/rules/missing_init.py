"""A Module inherits a hand-written `__init__`, but does not say so.

To a type checker, a Module without its own `__init__` has the constructor that its fields define, even if a base wrote another
one by hand. So it would accept calls that fail at run time, and reject calls that work. `init=False` tells the checker to use
the inherited constructor.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import ModuleDecl
from ..model.diagnostics import Diagnostic, Kind
from .context import RuleContext

KIND = Kind("QG307", "missing-init")

GOOD = """
from qten_gen import Module


class Base(Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.size = dim


class Child(Base, init=False):
    def halved(self) -> float:
        return self.size / 2


class Other(Base):
    def __init__(self, wide: bool) -> None:
        super().__init__(8 if wide else 4)
"""

BAD = """
from qten_gen import Module


class Base(Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.size = dim


class Child(Base):
      ^^^^^
    pass
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    declaration = context.declaration
    if not isinstance(declaration, ModuleDecl) or _writes_init(declaration) or declaration.keeps_init:
        return
    for parent in context.project.ancestors(declaration):
        if isinstance(parent, ModuleDecl) and _writes_init(parent):
            message = f"{declaration.name} has no __init__, but its base {parent.name} has a hand-written one"
            bases = ", ".join(base.text for base in declaration.bases)
            help = f"write class {declaration.name}({bases}, init=False) to inherit it, or define __init__ here too"
            yield Diagnostic(KIND, message, context.name_place, help)
            return


def _writes_init(declaration: ModuleDecl) -> bool:
    return any(method.name == "__init__" for method in declaration.methods)
