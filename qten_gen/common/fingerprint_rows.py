"""What a fingerprint covers of a declaration, as nested tuples: the generator and a class statement that runs make the same."""

from __future__ import annotations

from typing import Any, cast

from .format_number import FORMAT

Row = tuple[object, ...]
"""A record of the declaration model: its kind, and its attributes by name."""


def row(kind: str, /, **attributes: object) -> Row:
    """The row of a record.

    Attributes that are None or False are left out. So a new one does not change existing fingerprints.

    >>> row("ConfigDecl", name="dim", kw_only=False, alias=None)
    ('ConfigDecl', ('name', 'dim'))
    """
    return (
        kind,
        *sorted((name, given) for name, given in attributes.items() if given is not None and given is not False),
    )


def attributes(row: Row) -> dict[str, Any]:
    """The attributes in a row by name; those that are None or False are absent.

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
