"""The level `base`: the bases of classes change, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from ..adoption import Proposal
from ..opened import OpenFile, Project
from .data_classes import propose_dataclasses
from .modules import propose_modules
from .tensorclasses import propose_tensorclasses


def propose_bases(file: OpenFile, project: Project) -> Iterator[Proposal]:
    """The changes that the level proposes for the classes of a file."""
    yield from propose_modules(file, project)
    yield from propose_tensorclasses(file, project)
    yield from propose_dataclasses(file, project)
