"""The names of the batch dimensions after an operation that rearranges these."""

from __future__ import annotations

from collections.abc import Sequence

from .dimension_names import Names


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
