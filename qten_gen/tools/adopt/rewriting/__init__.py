"""Makes the changes that levels propose, with libcst. Imported where a file changes, and nowhere else."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..adoption import Change, Proposal
from ..opened import OpenFile
from ..uses import uses
from .class_changes import ChangeClasses
from .elision import rewritten_parts
from .import_changes import with_imports


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
    classes = [file.classes[name].node for name in changes]
    changed = rewritten_parts(content, file.tree, classes, lambda module: module.visit(ChangeClasses(changes)))
    replaced = [part for cls in classes for part in (*cls.bases, *cls.decorator_list)]
    needs = {need for proposal in proposals for need in proposal.needs}
    return with_imports(file, changed, needs, own, {name for part in replaced for name in uses(part)})
