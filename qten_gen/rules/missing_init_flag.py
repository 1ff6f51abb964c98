"""A Module inherits a constructor that does not take its fields, and does not say so.

Where a class in the chain declares fields that make a constructor, a type checker gives a class without its own `__init__` the
constructor of all the fields, even if a base nearer to it wrote another one by hand. So it would accept calls that fail at run
time, and reject calls that work. `init=False` tells the checker to use the inherited constructor.

It is the same below a class with `init=False` that keeps the constructor of nn.Module: what a class below it annotates is an
argument to type checkers only.

Below classes that write their constructors by hand and declare nothing, the command does not ask for the flag. Type checkers need
it there too: without it, they think that the class takes `device` and `dtype` only.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import ConfigDecl, ModuleDecl, VirtualDecl
from ..model.diagnostics import Diagnostic, Kind
from .context import RuleContext

KIND = Kind("QG307", "missing-init-flag")

GOOD = """
from qten_gen import Module


class Sized(Module):
    size: int


class Doubled(Sized):
    def __init__(self, dim: int) -> None:
        super().__init__(2 * dim)


class Child(Doubled, init=False):
    def halved(self) -> float:
        return self.size / 2


class Other(Doubled):
    def __init__(self, wide: bool) -> None:
        super().__init__(8 if wide else 4)
"""

BAD = """
from qten_gen import Module


class Sized(Module):
    size: int


class Doubled(Sized):
    def __init__(self, dim: int) -> None:
        super().__init__(2 * dim)


class Child(Doubled):
      ^^^^^
    pass
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    declaration = context.declaration
    if not isinstance(declaration, ModuleDecl) or _writes_init(declaration) or declaration.keeps_init:
        return
    parents = [parent for parent in context.project.ancestors(declaration) if isinstance(parent, ModuleDecl)]
    writer = next((parent for parent in parents if _writes_init(parent)), None)
    if writer is not None and any(map(_has_generated_init, parents)):
        message = f"{declaration.name} has no __init__, but its base {writer.name} has a hand-written one"
        bases = ", ".join(base.text for base in declaration.bases)
        help = f"write class {declaration.name}({bases}, init=False) to inherit it, or define __init__ here too"
        yield Diagnostic(KIND, message, context.name_place, help)
    keeper = next((parent for parent in parents if parent.keeps_init), None)
    taken = [field.name for field in declaration.fields if isinstance(field, ConfigDecl)]
    # QG306 says the same of specifiers.
    plain = all(isinstance(field, ConfigDecl | VirtualDecl) for field in declaration.fields)
    if writer is None and keeper is not None and declaration.custom_init and taken and plain:
        message = (
            f"{keeper.name} has init=False, so {taken[0]} is not an argument of the constructor of {declaration.name}"
        )
        bases = ", ".join(base.text for base in declaration.bases)
        help = (
            f"write class {declaration.name}({bases}, init=False) and assign the attribute,"
            f" or remove init=False from {keeper.name}"
        )
        yield Diagnostic(KIND, message, context.name_place, help)


def _writes_init(declaration: ModuleDecl) -> bool:
    return any(method.name == "__init__" for method in declaration.methods)


def _has_generated_init(declaration: ModuleDecl) -> bool:
    return not declaration.custom_init and any(not isinstance(field, VirtualDecl) for field in declaration.fields)
