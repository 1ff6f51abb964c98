"""The levels: functions from a file and its project to proposals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

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

LEVELS: Mapping[Level, LevelFunction] = {
    Level.BASE: propose_bases,
    Level.ANNOTATE: propose_annotations,
    Level.DECLARE: declare,
}
