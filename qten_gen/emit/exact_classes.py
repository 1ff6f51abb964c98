"""The classes whose stubs have a class statement, because they say what a declaration cannot.

These are Modules with handlers, Modules that register tensors and children by names in strings or in torch's containers,
TensorClasses that turn numbers into tensors, and classes that derive from one of these or hold one. For any
other class, the stub gives the class of the declaration.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..model import (
    Declaration,
    FieldKind,
    TensorClassDecl,
    declares,
)
from .registered_names import says_more


class ExactClasses:
    """The qualified names of such classes among all declarations of a run."""

    def __init__(self, related: Mapping[str, Declaration]) -> None:
        self._related = related
        self._known: dict[str, bool] = {}

    def __contains__(self, qualified: object) -> bool:
        if not isinstance(qualified, str):
            return False
        found = self._known.get(qualified)
        if found is None:
            found = self._known[qualified] = any(map(_is_exact, self._reached(qualified)))
        return found

    def _reached(self, qualified: str) -> Iterator[Declaration]:
        """The declaration of a name, its bases and the classes of its fields, over any number of steps."""
        seen, ahead = {qualified}, [qualified]
        while ahead:
            declaration = self._related.get(ahead.pop())
            if declaration is not None:
                yield declaration
                names = [name for name in _named(declaration) if name not in seen]
                seen.update(names)
                ahead += names


def _is_exact(declaration: Declaration) -> bool:
    """Whether a class itself has something to say."""
    if isinstance(declaration, TensorClassDecl):
        return any(field.kind is FieldKind.NUMBER for field in declaration.fields)
    return bool(declaration.handlers) or says_more(declaration)


def _named(declaration: Declaration) -> Iterator[str]:
    """The classes that a class derives from, and those in the types of what it holds."""
    yield from (base.name for base in declaration.bases if base.declared)
    for field in declaration.fields:
        if declares(declaration, field):
            yield from field.type.mentioned
    if not isinstance(declaration, TensorClassDecl):
        yield from (each.type.name for each in declaration.registers if each.type is not None)
