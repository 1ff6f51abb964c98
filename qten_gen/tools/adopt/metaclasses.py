"""The metaclasses of classes, which cannot be combined with those of Module and TensorClass."""

from __future__ import annotations

from collections.abc import Iterator

from ...link.program import Program
from .adoption import FoundClass
from .opened import OpenFile, Project

_COMBINED = frozenset({"abc.ABCMeta", "type", "builtins.type"})
"""Metaclasses that ours derive from."""


def own_metaclass(found: FoundClass, file: OpenFile, project: Project) -> str | None:
    """The metaclass that a class statement names, as written, if it is one of the user's or of a library."""
    for keyword in found.node.keywords:
        if keyword.arg == "metaclass" and project.meaning(file, keyword.value) not in _COMBINED:
            return file.text.of(keyword.value)
    return None


def inherited_metaclass(found: FoundClass, program: Program) -> tuple[str, str] | None:
    """The nearest ancestor that names such a metaclass, and the metaclass."""
    return next(_inherited(found, program), None)


def _inherited(found: FoundClass, program: Program) -> Iterator[tuple[str, str]]:
    for ancestor in found.ancestors:
        located = program.names.class_of(ancestor)
        for keyword, value in located[1].keywords if located is not None else ():
            if keyword == "metaclass" and program.names.resolve(value.name) not in _COMBINED:
                yield ancestor.rpartition(".")[2], value.name.rpartition(".")[2] or value.text
