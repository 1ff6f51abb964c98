"""Source files → declarations: names followed across files, bases found, inherited fields put in place.

Pure, and independent of the order of the files: imports under TYPE_CHECKING, import cycles and re-exports through packages need
no special care, because nothing is executed.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..diagnostics import Diagnostic, ordered
from ..model import FileDecl, SourceFile
from .bases import Ancestry
from .declare import declare_all
from .names import Names


def link(files: Sequence[SourceFile]) -> tuple[tuple[FileDecl, ...], tuple[Diagnostic, ...]]:
    """What all files declare together, in the order given, and what is wrong with their bases.

    A class declares where `TensorClass` or `Module` of qten_gen is among its ancestors. Ancestors in files that are not among
    `files` are taken for plain classes.
    """
    names = Names(files)
    ancestry = Ancestry(names)
    declarations = declare_all(names, ancestry)
    linked = tuple(
        FileDecl(
            file,
            tuple(
                declarations[qualified]
                for cls in file.classes
                if (qualified := f"{file.module}.{cls.name}") in declarations
            ),
        )
        for file in files
    )
    return linked, ordered(ancestry.diagnostics())
