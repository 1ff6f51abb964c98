"""What the grammar remembers of a class that it wrote, for the classes that follow."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Known:
    """A class that was written before."""

    kind: str
    """`tensorclass` or `module`."""
    module: str
    name: str
    fields: tuple[str, ...]
    has_defaults: bool
    """Whether a field has a default, so that a child's fields need one too."""
    flags: str = ""
    variable: str = ""
    """The type variable that it is generic over."""
    required: tuple[str, ...] = ()
    """The constructor arguments of a Module that have no default, all of them numbers."""
    is_final: bool = False
