"""The levels: functions from a file and its project to proposals."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from .adoption import Level, Proposal
from .annotating import propose_annotations
from .base import propose_bases
from .declaring.level import declare
from .opened import OpenFile, Project

LevelFunction = Callable[[OpenFile, Project], Iterable[Proposal]]
"""The function of a level: its proposals for each class of a file.

The levels are applied one after the other, each to the text that the one before has left, parsed anew. The rules check the
result. If they find an error in a class, the level is asked again with a file that lacks the class, and the report gives the
finding. A level must propose nothing for what it has done before: a second run has nothing to do.
"""

_SCRIPTED = re.compile(
    r"\bjit\.(?:export|ignore|interface|script\w*|unused)\b|^\s*from torch\.jit import", re.MULTILINE
)
_SCRIPTING = "torch.jit.script refuses declared fields (Unknown type annotation): use torch.export or torch.jit.trace"


def _declare(file: OpenFile, project: Project) -> Iterator[Proposal]:
    """The level declare, with a note for classes of a file that TorchScript reads."""
    is_scripted = _SCRIPTED.search(file.text.content) is not None
    for each in declare(file, project):
        yield replace(each, notes=(*each.notes, _SCRIPTING)) if is_scripted and each.changes else each


LEVELS: Mapping[Level, LevelFunction] = {
    Level.BASE: propose_bases,
    Level.ANNOTATE: propose_annotations,
    Level.DECLARE: _declare,
}
