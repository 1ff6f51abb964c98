"""A hand-written constructor does not call super().__init__(), or calls it too late.

`nn.Module.__init__` makes the tables in which parameters, buffers and children are registered. Before it has run, assigning one
of them raises AttributeError: "cannot assign module before Module.__init__() call". A TensorClass cannot store a field before
its constructor has run.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import MethodSource, ModuleDecl
from ..model.diagnostics import Diagnostic, Kind
from .context import RuleContext
from .shared_object import made_by

KIND = Kind("QG322", "missing-super-init", can_be_wrong=True)

GOOD = """
from qten_gen import Module
from torch import nn


class Net(Module):
    head: nn.Linear

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.head = nn.Linear(dim, dim)
"""

BAD = """
from qten_gen import Module
from torch import nn


class Net(Module):
    head: nn.Linear

    def __init__(self, dim: int) -> None:
        ^^^^^^^^
        self.head = nn.Linear(dim, dim)
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    for method in context.methods:
        if method.name != "__init__" or method.decorators:
            continue
        if not method.initialises_base and not any(change.action == "assign" for change in method.changes):
            continue  # such as one that only raises
        if not method.initialises_base:
            if not isinstance(context.declaration, ModuleDecl):
                call = "super().__init__(..., batch_size=...)"
            else:
                call = "super().__init__()"
            message = f"the __init__ of {context.declaration.name} does not call super().__init__()"
            yield Diagnostic(KIND, message, method.place / "name", f"write {call} first")
        elif isinstance(context.declaration, ModuleDecl):
            yield from _too_late(method, context)


def _too_late(method: MethodSource, context: RuleContext) -> Iterator[Diagnostic]:
    """What a constructor registers before it calls the one of its base, both outside of any block."""
    for change in method.changes:
        if change.action == "init":
            return
        registers = change.action == "assign" and not change.in_container and not change.moved
        if registers and any(made_by(name, context) in ("module", "parameter") for name in change.makes):
            if any(other.action == "init" for other in method.changes):
                message = f"self.{change.name} is assigned before super().__init__() has run"
                yield Diagnostic(KIND, message, change.place, "call super().__init__() first")
            return
