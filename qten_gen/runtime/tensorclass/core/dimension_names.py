"""Names of the batch dimensions.

An object has names of its own; an object in one of its fields has others. Operations that keep the dimensions keep the names of
both. Operations that rearrange them give nested objects none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from torch import Size

from .error_text import abridged
from .locks import refuse_if_locked
from .stored import Stored

Names = tuple[str | None, ...]
"""A name, or None, for each batch dimension."""

NamesLike = Sequence[str | None] | None
"""The argument `names` of a constructor; None means that no dimension has a name."""


def names(self: Stored, value: NamesLike, batch_size: Size) -> Names | None:
    """The stored form of the names that a user gives; None where there is no name among them.

    Raises:
        TypeError: a name is not a string.
        ValueError: there is not one for each batch dimension, or one stands twice.
    """
    if value is None:
        return None
    cls = type(self).__name__
    # A string is iterable too.
    chosen = None if isinstance(value, str) or not isinstance(value, Iterable) else tuple(value)
    if chosen is None or not all(name is None or isinstance(name, str) for name in chosen):
        raise TypeError(f"{cls}.names: expected a sequence of str or None, got {abridged(value)}")
    given = [name for name in chosen if name is not None]
    ndim = len(batch_size)
    if len(chosen) != ndim or len({*given}) < len(given):
        raise ValueError(
            f"{cls}.names: expected a name or None for each of {ndim} batch dimensions, all different, got {abridged([*chosen])}"
        )
    return chosen if given else None


def get_names(self: Stored) -> Names:
    """The property `names`."""
    return self._names or (None,) * len(self._batch_size)


def position(self: Stored, name: str) -> int:
    """The batch dimension that has a name.

    Raises:
        ValueError: none has it.
    """
    known = get_names(self)
    if name not in known:
        raise ValueError(
            f"no dimension of {type(self).__name__} is called {abridged(name)}; the names are {abridged([*known])}"
        )
    return known.index(name)


def set_names(self: Stored, value: NamesLike) -> None:
    """Set the property `names`.

    Raises:
        TypeError: a name is not a string.
        ValueError: there is not one for each batch dimension, or one stands twice.
        RuntimeError: the object is locked.
        FrozenInstanceError: it is frozen.
    """
    refuse_if_locked(self, "name the dimensions of")
    self._names = names(self, value, self._batch_size)


def permuted(names: Names | None, order: Sequence[int]) -> Names | None:
    """The names when the dimensions are put in another order; also where some are left out of it.

    >>> permuted(("time", "row"), [1, 0]), permuted(("time", "row"), [1])
    (('row', 'time'), ('row',))
    """
    return None if names is None else _or_none([names[dim] for dim in order])


def inserted(names: Names | None, at: int, count: int = 1) -> Names | None:
    """The names when `count` dimensions without name are inserted.

    >>> inserted(("time",), 0)
    (None, 'time')
    """
    return None if names is None else (*names[:at], *(None,) * count, *names[at:])


def replaced(names: Names | None, at: int, old: int, new: int) -> Names | None:
    """The names when `old` dimensions give way to `new` others. One that gives way to one is the same dimension.

    >>> replaced(("time", "row", "column"), 0, 2, 1)
    (None, 'column')
    """
    return names if names is None or old == new == 1 else _or_none([*names[:at], *[None] * new, *names[at + old :]])


def without(names: Names | None, dims: Sequence[int]) -> Names | None:
    """The names when some dimensions go away.

    >>> without(("time", "row"), [0])
    ('row',)
    """
    return None if names is None else _or_none([name for dim, name in enumerate(names) if dim not in dims])


def _or_none(names: Sequence[str | None]) -> Names | None:
    return tuple(names) if any(name is not None for name in names) else None
