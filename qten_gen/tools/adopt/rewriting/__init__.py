"""Makes the changes that levels propose, with libcst. Imported where a file changes, and nowhere else."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

from ....common.language import INIT
from ..adoption import Need, Proposal
from ..changes import Change, RemoveKeyword, ReplaceConstructor
from ..opened import OpenFile
from ..uses import uses
from .classes import ChangeClasses
from .folding import rewritten_parts
from .imports import with_imports


def rewritten_file(file: OpenFile, content: str, proposals: Sequence[Proposal], own: Collection[str]) -> str:
    """The text of a file with the changes of proposals made.

    Args:
        file: The file before.
        content: Its text, with the line ends that it has.
        proposals: What is done with its classes.
        own: The first parts of the names of the project's modules.

    Raises:
        CannotRewrite: libcst cannot parse what changes, or would not write it back as it was.
        SyntaxError: The result would not be Python.
    """
    changes: dict[str, list[Change]] = {}
    for proposal in proposals:
        changes.setdefault(proposal.name, []).extend(proposal.changes)
        for name in proposal.unflagged:
            changes.setdefault(name, []).append(RemoveKeyword(INIT))
    kept: set[ast.AST] = {file.classes[name].node for name in changes}
    kept |= {each.init for given in changes.values() for each in given if isinstance(each, ReplaceConstructor)}
    changed = rewritten_parts(content, file.tree, kept, lambda module: module.visit(ChangeClasses(changes)))
    needs: set[Need] = {need for proposal in proposals for need in proposal.needs}
    replaced = {name for part in _replaced(file, changes) for name in uses(part)}
    return with_imports(file, changed, needs, own, replaced)


def _replaced(file: OpenFile, changes: dict[str, list[Change]]) -> Iterator[ast.AST]:
    """What is taken out, or may be."""
    for name, given in changes.items():
        node = file.classes[name].node
        yield from (*node.bases, *node.decorator_list)
        yield from (each.init for each in given if isinstance(each, ReplaceConstructor))
