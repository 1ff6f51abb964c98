"""The classes whose stubs have a class statement, because they say what a declaration cannot.

These are Modules with handlers, Modules that register tensors and children by names in strings or in torch's containers,
TensorClasses that turn numbers into tensors, and classes that derive from one of these or hold one. With literal keys, these are
all classes with fields that have a key; with shapes, all that say some. For any other class, the stub gives the class of the
declaration.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..common.stub_settings import NOTHING_MORE, StubSettings
from ..model import (
    BufferDecl,
    ConfigDecl,
    Declaration,
    FieldKind,
    ModuleDecl,
    ParameterDecl,
    SubmoduleDecl,
    TensorClassDecl,
    declares,
)
from .registered_names import says_more


class ExactClasses:
    """The qualified names of such classes among all declarations of a run."""

    def __init__(self, related: Mapping[str, Declaration], more: StubSettings = NOTHING_MORE) -> None:
        self._related = related
        self._says = (_is_exact, *([_has_keys] if more.literal_keys else ()), *([says_shapes] if more.shapes else ()))
        self._known: dict[str, bool] = {}

    def __contains__(self, qualified: object) -> bool:
        if not isinstance(qualified, str):
            return False
        found = self._known.get(qualified)
        if found is None:
            found = self._known[qualified] = any(
                says(declaration) for declaration in self._reached(qualified) for says in self._says
            )
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


def _has_keys(declaration: Declaration) -> bool:
    """Whether methods of a class take the names of fields, or of what it registers."""
    keyed = (ParameterDecl, BufferDecl, SubmoduleDecl)
    return any(isinstance(declaration, TensorClassDecl) or isinstance(field, keyed) for field in declaration.fields)


def says_shapes(declaration: Declaration) -> bool:
    """Whether a class has shapes to say, and a constructor to say them in that is made of its fields alone."""
    if declaration.custom_init or declaration.type_parameters or any("[" in base.text for base in declaration.bases):
        return False
    if isinstance(declaration, TensorClassDecl):
        derives = any(base.declared for base in declaration.bases)
        return not derives and any(field.dims is not None for field in declaration.fields)
    return bool(sizes(declaration)) and not (declaration.keeps_init or declaration.handlers)


def sizes(declaration: ModuleDecl) -> tuple[str, ...]:
    """The config fields that may be sizes: all that are an `int`, if their argument has the same name."""
    return tuple(
        field.name
        for field in declaration.fields
        if isinstance(field, ConfigDecl) and field.type.name == "builtins.int" and field.alias is None
    )


def _named(declaration: Declaration) -> Iterator[str]:
    """The classes that a class derives from, and those in the types of what it holds."""
    yield from (base.name for base in declaration.bases if base.declared)
    for field in declaration.fields:
        if declares(declaration, field):
            yield from field.type.mentioned
    if not isinstance(declaration, TensorClassDecl):
        yield from (each.type.name for each in declaration.registers if each.type is not None)
