"""The facts in the text of a class statement about a call of the class."""

from __future__ import annotations

from typing import NamedTuple


class ConstructedClass(NamedTuple):
    """A class statement, as far as it decides which arguments a call takes."""

    bases: tuple[str, ...]
    """Their qualified names; empty for a base that the text does not show."""
    parameters: str | None
    """The parameters of its own `__init__`, without the first: `dim: int, heads=4`. None without an `__init__`."""
    is_plain: bool
    """Whether nothing else in it decides: no decorator, metaclass, `__new__` or overload."""


class FoundClass(NamedTuple):
    """A class outside the declarations, and the look-ups that it took to find it."""

    cls: ConstructedClass | None
    lookups: tuple[str, ...] = ()


DECIDING = frozenset({"__new__", "__init_subclass__"})
"""Names that a class may bind to make its instances, or those of its subclasses, in its own way."""
