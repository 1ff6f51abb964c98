"""The level `annotate`: the class body says what `__init__` registers by name, and `forward` what it provably returns.

The calls of a class stay unchecked where the project contradicts its `forward`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..adoption import Kind, Proposal
from ..opened import OpenFile, Project
from .calls import unchecked_calls
from .registered import annotated_names
from .results import proven_result

_PARTS = (annotated_names, proven_result, unchecked_calls)


def propose_annotations(file: OpenFile, project: Project) -> Iterator[Proposal]:
    """The changes that the level proposes for the adopted modules of a file."""
    for found in file.classes.values():
        if found.kind is Kind.MODULE and found.is_adopted:
            parts = [part for part in (level(found, file, project) for level in _PARTS) if part is not None]
            if parts:
                yield Proposal(
                    found.name,
                    tuple(line for part in parts for line in part.does),
                    tuple(change for part in parts for change in part.changes),
                    tuple(need for part in parts for need in part.needs),
                )
