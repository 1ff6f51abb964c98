"""The classes of the project by name, with their bases and methods."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..adoption import FoundClass
from ..opened import OpenFile, Project


def lineage(found: FoundClass, project: Project) -> Iterator[tuple[FoundClass, OpenFile]]:
    """A class and its bases among the files, in method resolution order, each with its file."""
    for name in (found.qualified, *found.ancestors):
        cls = found if name == found.qualified else class_named(name, project)
        if cls is not None:
            yield cls, project.files[cls.path]


def class_named(qualified: str, project: Project) -> FoundClass | None:
    module, _, name = qualified.rpartition(".")
    return next((file.classes[name] for file in project.modules.get(module, ()) if name in file.classes), None)


def method_of(cls: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    return next((each for each in cls.body if isinstance(each, ast.FunctionDef) and each.name == name), None)
