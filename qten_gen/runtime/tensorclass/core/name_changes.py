"""The names of the batch dimensions after an operation that rearranges these."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

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


def indexed(names: Names, index: object, dimensions: int) -> Names | None:
    """The names when an index is applied that is made of integers, slices, None, bools and integer tensors.

    A dimension that a slice or one tensor of one dimension selects from keeps its name. What several tensors make has none.

    Args:
        dimensions: How many there are then.
    """
    if isinstance(index, int) and not isinstance(index, bool):
        return _or_none(names[1:])
    if isinstance(index, slice):
        return names
    items = index if isinstance(index, tuple) else (index,)
    tensors = [item for item in items if isinstance(item, Tensor) and item.dim() > 0]
    if len(tensors) > 1 or any(tensor.dim() > 1 for tensor in tensors) or any(isinstance(item, bool) for item in items):
        kept = _around_tensors(names, items, dimensions)
    else:
        old = iter(names)
        pairs = [(item, None if item is None else next(old)) for item in items]
        kept = [name for item, name in pairs if not _is_one(item)] + list(old)
    return _or_none(kept)


def _is_one(item: object) -> bool:
    """Whether a part of an index selects one position, so that its dimension goes away."""
    return isinstance(item, int) or (isinstance(item, Tensor) and item.dim() == 0)


def _around_tensors(names: Names, items: Sequence[object], dimensions: int) -> list[str | None]:
    """The names before and after the dimensions that several index tensors make together."""
    kept: list[str | None] = []
    places: list[int] = []
    old = iter(names)
    for item in items:
        name = None if item is None or isinstance(item, bool) else next(old)
        if isinstance(item, bool) or (isinstance(item, Tensor) and item.dim() > 0):
            places.append(len(kept))
        elif not _is_one(item):
            kept.append(name)
    kept += old
    at = places[0] if places[0] == places[-1] else 0
    return [*kept[:at], *[None] * (dimensions - len(kept)), *kept[at:]]


def _or_none(names: Sequence[str | None]) -> Names | None:
    return tuple(names) if any(name is not None for name in names) else None


def fitted(names: Names | None, dimensions: int) -> Names | None:
    """The names of the leading dimensions, where there are more or fewer now.

    >>> fitted(("time", "row"), 1), fitted(("time",), 2), fitted((None, "row"), 1)
    (('time',), ('time', None), None)
    """
    if names is None or len(names) == dimensions:
        return names
    return _or_none([*names[:dimensions], *[None] * (dimensions - len(names))])
