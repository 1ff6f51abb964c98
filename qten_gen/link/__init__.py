"""Turns source files into declarations: resolves names across files, finds bases, and adds inherited fields.

The result does not depend on the order of the files. Import cycles, imports under TYPE_CHECKING and reexports are ordinary cases,
because no code is executed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..model import Declaration, FileDecl, ModuleDecl, SourceFile
from ..model.diagnostics import Diagnostic, ordered
from .bases import Ancestry
from .constants import with_constants
from .declare import declare_all, related
from .names import Names


def link(files: Sequence[SourceFile]) -> tuple[tuple[FileDecl, ...], tuple[Diagnostic, ...]]:
    """Link the files, and return their declarations in the given order with the diagnostics about bases.

    A class is a declaration if `TensorClass` or `Module` of qten_gen is among its ancestors. A class from a file that is not in
    `files` counts as a plain class.
    """
    names = Names(files)
    replaced = [with_constants(file, names) for file in files]
    if any(new is not old for new, old in zip(replaced, files, strict=True)):
        files, names = replaced, Names(replaced)
    ancestry = Ancestry(names)
    declarations = declare_all(names, ancestry)
    by_module = {file.module: file for file in files}
    linked = tuple(_linked(file, _declared_in(file, declarations), declarations, by_module) for file in files)
    return linked, ordered(ancestry.diagnostics())


def _linked(
    file: SourceFile,
    own: tuple[Declaration, ...],
    declarations: Mapping[str, Declaration],
    by_module: Mapping[str, SourceFile],
) -> FileDecl:
    """The declarations of a file, with the declarations and files that they mention."""
    found = related(own, declarations)
    modules = {declaration.module for declaration in found.values()} | {
        handler.module for declaration in own if isinstance(declaration, ModuleDecl) for handler in declaration.handlers
    }
    return FileDecl(file, own, found, {module: by_module[module] for module in sorted(modules | {file.module})})


def _declared_in(file: SourceFile, declarations: Mapping[str, Declaration]) -> tuple[Declaration, ...]:
    qualified = (f"{file.module}.{cls.name}" for cls in file.classes)
    return tuple(declarations[name] for name in qualified if name in declarations)
