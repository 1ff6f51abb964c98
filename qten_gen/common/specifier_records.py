"""How the reader of class statements learns what a field specifier was called with.

`param("3*dim", "dim")` leaves a record in the class body. Its class has a method `__specifier_call__`, which returns the call as
plain data. The records stand in `runtime.declaring.fields` and are read in `reflection`, which do not import each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple


class RecordedCall(NamedTuple):
    """A call of a specifier, as Python executed it."""

    name: str
    """Qualified name of the specifier: `qten_gen.param`."""
    args: tuple[object, ...] = ()
    """The positional arguments: `("3*dim", "dim")`."""
    kwargs: Mapping[str, object] = {}
    """The keyword arguments. One that has its default may be left out."""


def recorded_call(value: object) -> RecordedCall | None:
    """The call that left a record in a class body; None for any object that is not a record.

    The method is looked up on the type, as Python does with special methods, because a default may be an object that has every
    attribute one asks for.
    """
    method: Callable[[object], RecordedCall] | None = getattr(type(value), "__specifier_call__", None)
    return None if method is None else method(value)
