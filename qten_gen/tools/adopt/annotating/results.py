"""`def forward(self, x): return F.softmax(x, -1)` → `def forward(self, x) -> Tensor: ...`, where the text proves it.

Every value that may reach a `return` has to be a tensor for certain: the result of a layer of torch that the constructor alone
sets, of a function of torch or of the project, or of a module of the project. An argument without annotation is not known to be
one, until a layer has taken it that raises for anything else.
"""

from __future__ import annotations

from functools import partial

from ..adoption import FoundClass, Proposal
from ..opened import OpenFile, Project
from .functions import returned
from .lineage import method_of
from .values import TENSOR


def proven_result(found: FoundClass, file: OpenFile, project: Project) -> Proposal | None:
    """The result type of the `forward` of a class; None if it has one, or if the text proves none."""
    forward = method_of(found.node, "forward")
    if forward is None or forward.returns is not None or forward.decorator_list:
        return None
    if returned(forward, file, project, found) != TENSOR:
        return None
    spelling = file.spell("torch", "Tensor")
    from ..rewriting.class_changes import with_result

    change = partial(with_result, method=forward.name, text=spelling.text)
    return Proposal(found.name, (f"add -> {spelling.text} to forward",), (change,), spelling.needs)
