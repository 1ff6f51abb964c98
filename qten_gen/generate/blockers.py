"""Finds the files that cannot be generated because a file that they depend on has errors."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from ..model import FileDecl
from ..project.import_graph import closure


def dependencies(
    files: Iterable[FileDecl], imports: Mapping[str, Collection[str]], undecided: Collection[str]
) -> dict[str, set[str]]:
    """For each file, the files that declare the bases of its classes, and those of `undecided` that it imports.

    `undecided` are files whose declarations are not known, because a file could not be read.
    """
    listed = list(files)
    homes = {item.qualified: file.source.path for file in listed for item in file.declarations}
    return {
        file.source.path: {
            *(homes[base.name] for item in file.declarations for base in item.bases if base.name in homes),
            *(path for path in imports[file.source.path] if path in undecided),
        }
        for file in listed
    }


def blockers(dependencies: Mapping[str, Collection[str]], broken: Collection[str]) -> dict[str, set[str]]:
    """For each file that depends on broken files, directly or indirectly, those broken files."""
    found = {path: closure([path], lambda item: dependencies.get(item, ())) - {path} for path in dependencies}
    return {path: behind & set(broken) for path, behind in found.items() if not behind.isdisjoint(broken)}
