"""What the generator and a class statement that runs say alike: calls of specifiers, and the rows that a fingerprint covers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, NamedTuple, cast

from .header import FORMAT

Row = tuple[object, ...]
"""A record of the declaration model: its kind, and its attributes by name."""


def row(kind: str, /, **attributes: object) -> Row:
    """The row of a record.

    Attributes that are None or False are left out. So a new one does not change existing fingerprints. A member of an enumeration
    stands as its value.

    >>> row("ConfigDecl", name="dim", kw_only=False, alias=None)
    ('ConfigDecl', ('name', 'dim'))
    """
    return (
        kind,
        *sorted(
            (name, given.value if isinstance(given, Enum) else given)
            for name, given in attributes.items()
            if given is not None and given is not False
        ),
    )


def attributes(row: Row) -> dict[str, Any]:
    """The attributes in a row by name, except for None and False.

    >>> attributes(row("ConfigDecl", name="dim", kw_only=False))
    {'name': 'dim'}
    """
    return dict(cast("tuple[tuple[str, Any], ...]", row[1:]))


VALUE = row("Value")
"""The row of a value. The value itself is compared with the generated text when the class statement runs."""


def fingerprint_of(declared: Row) -> str:
    """Twelve hex digits that differ for other rows and formats. The `repr` of a row is the same in every process."""
    from hashlib import sha256  # which loads OpenSSL

    return sha256(f"{FORMAT} {declared}".encode()).hexdigest()[:12]


class RecordedCall(NamedTuple):
    """A call of a specifier, as Python executed it."""

    name: str
    """Qualified name of the specifier: `qten_gen.param`."""
    args: tuple[object, ...] = ()
    """The positional arguments: `("3*dim", "dim")`."""
    kwargs: Mapping[str, object] = {}
    """The keyword arguments. An argument with its default value may be missing."""


DATACLASS_FIELD_DEFAULTS: Mapping[str | None, bool | None] = {
    "init": True,
    "repr": True,
    "compare": True,
    "hash": None,
    "metadata": None,
}
"""The arguments of `dataclasses.field` that `field` does not take, and the values with which they change nothing."""


def recorded_call(value: object) -> RecordedCall | None:
    """The call that returned a record; None for an object that is not a record.

    The method is looked up on the type, as Python does for special methods, because a default may be an object that has every
    attribute, such as a mock.
    """
    method: Callable[[object], RecordedCall] | None = getattr(type(value), "__specifier_call__", None)
    return None if method is None else method(value)
