"""Links files without a graph of imports, a cache or a disk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from qten_gen.link.program import Library, Program, Reading
from qten_gen.model import FileDecl, SourceFile
from qten_gen.model.diagnostics import Diagnostic, ordered


def link(files: Sequence[SourceFile]) -> tuple[tuple[FileDecl, ...], tuple[Diagnostic, ...]]:
    """Link the files, and return their declarations in the given order with the diagnostics about bases.

    A class from a file that is not in `files` counts as a plain class.
    """
    program = program_of(map(Reading, files))
    linked = [found for file in files if (found := program.linked(file.module)) is not None]
    return tuple(file for file, _ in linked), ordered(item for _, said in linked for item in said)


def program_of(readings: Iterable[Reading]) -> Program:
    """The program that consists of these files."""
    by_module = {reading.file.module: reading for reading in readings}
    return Program(
        Library(
            reading=by_module.get,
            is_package=lambda module: by_module[module].file.is_package if module in by_module else None,
            heads=frozenset(module.partition(".")[0] for module in by_module),
        )
    )
