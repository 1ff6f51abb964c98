"""Finds what a Module annotates and its inherited constructor does not set."""

from __future__ import annotations

from collections.abc import Mapping

from ..model import ClassSource, ModuleDecl
from ..model.written_init import is_plain_annotation

_WITHOUT_FIELDS = frozenset({"abc", "builtins", "qten_gen", "torch", "typing", "typing_extensions"})
"""Packages whose classes set no attribute that a class of the user annotates."""


def unset_fields(declaration: ModuleDecl, classes: Mapping[str, ClassSource]) -> tuple[str, ...]:
    """The new fields of a class that nothing in the text of the class and its bases sets; none where a base is not known."""
    statement = classes.get(declaration.qualified)
    own = {field.name for field in (statement.fields if statement else ()) if is_plain_annotation(field)}
    queue, seen = [declaration.qualified], set[str]()
    while queue and own:
        name = queue.pop()
        source = classes.get(name)
        if name in seen or (source is None and name.partition(".")[0] in _WITHOUT_FIELDS):
            continue
        if source is None or source.unpacked or source.sets_any:
            return ()
        seen.add(name)
        own -= _bound(source, is_base=name != declaration.qualified)
        queue += [base.name for base in source.bases]
    return tuple(field.name for field in declaration.fields if field.name in own)


def _bound(source: ClassSource, *, is_base: bool) -> set[str]:
    """The attributes that a class body binds, a base annotates, or a method sets."""
    parts = (source, source.conditional, source.for_checkers)
    found = {field.name for part in parts for field in part.fields if is_base or not is_plain_annotation(field)}
    found.update(source.attributes, (each.name for each in source.registers))
    for method in (method for part in parts for method in part.methods):
        found.update((method.name, *method.registers_later), (change.name for change in method.changes))
    return found
