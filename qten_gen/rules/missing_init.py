"""A Module inherits a hand-written `__init__` and has none of its own.

To a type checker every Module without `__init__` has the constructor that its fields make. A child of a class that writes its own
would be called with other arguments than checked, so it repeats the constructor.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..diagnostics import Finding, Kind
from ..model import ModuleDecl
from .subject import Subject

KIND = Kind("QG307", "missing-init")

GOOD = """
from qten_gen import Module


class Base(Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.size = dim


class Child(Base):
    def __init__(self, dim: int) -> None:
        super().__init__(dim)
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


def check(subject: Subject) -> Iterator[Finding]:
    declaration = subject.declaration
    if not isinstance(declaration, ModuleDecl) or _writes_init(declaration):
        return
    for parent in subject.project.ancestors(declaration):
        if isinstance(parent, ModuleDecl) and _writes_init(parent):
            message = f"{declaration.name} has no __init__, and its base {parent.name} writes one by hand"
            yield Finding(message, subject.name_place, "write __init__ here too, and call super().__init__(...)")
            return


def _writes_init(declaration: ModuleDecl) -> bool:
    return any(method.name == "__init__" for method in declaration.methods)
