"""Generic declarations in a stub: what a class is generic over, and what the variables of its ancestors stand for in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..model import Declaration
from . import layout
from .renaming import Way
from .stub_names import Meanings, StubNames

_NOTHING: Meanings = {}


class TypeParameters(NamedTuple):
    """What a class is generic over."""

    variables: tuple[str, ...]
    pep695: str = ""
    """The parameters as they follow the class name: `[T: Tensor]`."""
    arguments: str = ""
    """What a reference to the class ends with: `[T]`."""

    @property
    def generic(self) -> str:
        """The base that makes a TypedDict generic in the old style."""
        return f", _t.Generic{self.arguments}" if self.arguments and not self.pep695 else ""


def type_parameters(declaration: Declaration, names: StubNames) -> TypeParameters:
    """The type parameters of a class: in brackets after its name, by `Generic[T]`, or by the variables in its other bases."""
    if declaration.type_parameters:
        found = tuple(re.split(r"[:=]", text)[0].strip() for text in _split(declaration.type_parameters))
        # Of `[*Ts, **P]`, a reference takes `[*Ts, P]`.
        reference = ", ".join(name.removeprefix("**") for name in found)
        return TypeParameters(
            tuple(name.lstrip("*") for name in found), names.text(declaration.type_parameters), f"[{reference}]"
        )
    generic = [base.text for base in declaration.bases if base.name == "typing.Generic"]
    bases = generic or [base.text for base in declaration.bases if base.declared]
    given = [
        name for text in bases for argument in _split(text) for name in names.variables(argument, declaration.module)
    ]
    variables = tuple(dict.fromkeys(given))
    written = ", ".join(names.text(name, declaration.module) for name in variables)
    return TypeParameters(variables, arguments=f"[{written}]" if written else "")


def arguments(text: str, names: StubNames, module: str, own: Meanings = _NOTHING, way: Way = Way.DECLARED) -> list[str]:
    """The type arguments in `Box[int, T]` as the stub writes them; `own` are the meanings of variables where it stands."""
    return [names.text(argument, module, own, way) for argument in _split(text)]


def bracketed(written: list[str]) -> str:
    """Type arguments in brackets, nothing for none."""
    return f"[{', '.join(written)}]" if written else ""


def bind(declaration: Declaration, given: list[str], names: StubNames) -> Meanings:
    """The variables of a generic class with these arguments; what is not given can be anything."""
    variables = type_parameters(declaration, names).variables
    return dict(zip(variables, [*given, *("_t.Any" for _ in variables)], strict=False))


def meanings(
    declaration: Declaration,
    names: StubNames,
    related: Mapping[str, Declaration],
    own: Meanings = _NOTHING,
    way: Way = Way.DECLARED,
) -> dict[str, Meanings]:
    """What names stand for that mean something in a class only, by the name of the class that they stand in.

    These are type variables, of which `own` are those of the class itself, and classes in its body. `way` is that of what
    the variables stand for.
    """
    found: dict[str, Meanings] = {f"{declaration.module}.{declaration.name}": {**own, **_inner(declaration, names)}}
    for base in declaration.bases:
        ancestor = related.get(base.name)
        if base.declared and ancestor is not None:
            bound = bind(ancestor, arguments(base.text, names, declaration.module, own, way), names)
            found = {**meanings(ancestor, names, related, bound, way), **found}
    return found


def _inner(declaration: Declaration, names: StubNames) -> Meanings:
    """The classes in the body of a class that annotations of its fields mention."""
    own = f"{declaration.module}.{declaration.name}"
    mentioned = {name.partition(".")[0] for f in declaration.fields if f.owner == own for name in f.type.names}
    return names.inside(declaration.module, declaration.name, mentioned)


def _split(text: str) -> Iterator[str]:
    """The arguments in `Box[int, T]`."""
    start, end = text.find("["), text.rfind("]")
    yield from layout.split(text[start + 1 : end]) if 0 <= start < end else ()
