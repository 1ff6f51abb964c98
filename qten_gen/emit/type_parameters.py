"""Generic declarations in a stub: what a class is generic over."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ..model import Declaration
from . import layout
from .stub_names import StubNames


class TypeParameters(NamedTuple):
    """The type parameters of a class."""

    pep695: str = ""
    """The parameters as they follow the class name: `[T: Tensor]`."""
    arguments: str = ""
    """The end of a reference to the class: `[T]`."""


def type_parameters(declaration: Declaration, names: StubNames) -> TypeParameters:
    """The type parameters of a class: in brackets after its name, by `Generic[T]`, or by the variables in its other bases."""
    if declaration.type_parameters:
        found = (re.split(r"[:=]", text)[0].strip() for text in _split(declaration.type_parameters))
        # Of `[*Ts, **P]`, a reference takes `[*Ts, P]`.
        reference = ", ".join(name.removeprefix("**") for name in found)
        return TypeParameters(names.text(declaration.type_parameters), f"[{reference}]")
    generic = [base.text for base in declaration.bases if base.name == "typing.Generic"]
    # `Generic` says the order of the variables, whatever other bases have.
    bases = generic or [base.text for base in declaration.bases if base.declared]
    given = [
        name for text in bases for argument in _split(text) for name in names.variables(argument, declaration.module)
    ]
    written = ", ".join(names.text(name, declaration.module) for name in dict.fromkeys(given))
    return TypeParameters(arguments=f"[{written}]" if written else "")


def arguments(text: str, names: StubNames, module: str) -> str:
    """The type arguments in `Box[int, T]` as the stub writes them, in brackets; nothing for none."""
    written = [names.text(argument, module) for argument in _split(text)]
    return f"[{', '.join(written)}]" if written else ""


def _split(text: str) -> Iterator[str]:
    """The arguments in `Box[int, T]`."""
    start, end = text.find("["), text.rfind("]")
    yield from layout.split(text[start + 1 : end]) if 0 <= start < end else ()
