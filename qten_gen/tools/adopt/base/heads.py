"""How a file that changes its bases writes the new ones."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ..adoption import Need
from ..imported import replaceable
from ..opened import OpenFile, Spelling
from ..uses import uses

PACKAGE = "qten_gen"


def spell_base(file: OpenFile, name: str, replaced: Sequence[ast.expr]) -> Spelling:
    """How to write a class of qten_gen in place of these expressions.

    Where they are all that the file does with a name that it imports, such as `Module` of `torch.nn`, the new import takes that
    name over. Otherwise the name keeps its meaning, and the new base is `qten_gen.Module`.
    """
    plain = [node for node in replaced if isinstance(node, ast.Name) and node.id == name]
    if plain and uses(file.tree)[name] == len(plain) and replaceable(file, name):
        return Spelling(name, (Need(PACKAGE, name),))
    return file.spell(PACKAGE, name)


def head(base: ast.expr) -> ast.expr:
    """The name in a base that may have flags or type arguments: `TensorClass` in `TensorClass["nocast"]`."""
    return head(base.value) if isinstance(base, ast.Subscript) else base
