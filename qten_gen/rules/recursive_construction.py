"""A class requires an object of its own class, directly or through others.

The constructor of such a TensorClass needs an object that only the constructor makes, so there is never a first one. The
constructor of such a Module makes a child, which makes a child, until Python raises RecursionError.

A field of the own class that may be None, or a child with `when=`, ends somewhere.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import Declaration, FieldDecl, ModuleDecl, ModuleField, SubmoduleDecl, TensorClassDecl
from ..model.diagnostics import Diagnostic, Kind
from ..model.field_kinds import members_of
from .context import RuleContext

KIND = Kind("QG114", "recursive-construction")

GOOD = """
from qten_gen import TensorClass
from torch import Tensor


class Tree(TensorClass):
    value: Tensor
    left: "Tree | None" = None
    right: "Tree | None" = None
"""

BAD = """
from qten_gen import TensorClass
from torch import Tensor


class Tree(TensorClass):
    value: Tensor
    left: "Tree"
    ^^^^
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    declaration = context.declaration
    for field in context.fields:
        needed = _needs(field, declaration)
        way = None if needed is None else _way(needed, declaration, context, ())
        if way is None:
            continue
        through = f" through {' and '.join(way)}" if way else ""
        if isinstance(field, SubmoduleDecl):
            message = f"each {declaration.name} constructs another{through} for its child {field.name}, without end"
            help = f'write {field.name}: {field.type.text} | None and when="...", for a config field of type bool'
        else:
            message = (
                f"{field.name} requires another {declaration.name}{through}, so the first one cannot be constructed"
            )
            help = f"write {field.name}: {_quoted(f'{field.type.text} | None')} = None"
        place = field.place / "target" if field.place.steps else context.name_place
        yield Diagnostic(KIND, message, place, help)


def _quoted(type: str) -> str:
    plain = type.replace('"', "").replace("'", "")
    return f'"{plain}"'


def _way(name: str, start: Declaration, context: RuleContext, seen: tuple[str, ...]) -> tuple[str, ...] | None:
    """The classes that lead from a class back to `start`, each of which requires the next; None if it never comes back."""
    if name == start.qualified or name == f"{start.module}.{start.name}":
        return ()
    found = context.project.declarations.get(name)
    if found is None or name in seen:
        return None
    for field in found.fields:
        needed = _needs(field, found)
        rest = None if needed is None else _way(needed, start, context, (*seen, name))
        if rest is not None:
            return (found.name, *rest)
    return None


def _needs(field: FieldDecl | ModuleField, owner: Declaration) -> str | None:
    """The qualified name of the declared class that every object needs one of for a field."""
    if isinstance(field, FieldDecl) and isinstance(owner, TensorClassDecl):
        if field.nested is None or field.optional or field.default is not None or owner.custom_init:
            return None
        return next((member.name for member in members_of(field.type) if member.name != "None"), None)
    if isinstance(field, SubmoduleDecl) and isinstance(owner, ModuleDecl):
        if field.when is not None or field.is_repeated or owner.custom_init:
            return None
        return field.made
    return None
