"""Names of the batch dimensions, and what becomes of them.

An object has names of its own; an object in one of its fields has others. Operations that keep the dimensions keep the names of
both. Operations that rearrange them say with the functions below what the names of the result are, and give nested objects none.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import TypeVar

from torch import Size, Tensor

from .contents import shallow_copy
from .locks import refuse_if_locked
from .stored import Stored

T = TypeVar("T", bound=Stored)

Names = tuple[str | None, ...]
"""A name, or None, for each batch dimension."""

NamesLike = Sequence[str | None] | None
"""What a constructor takes as `names`; None means that no dimension has a name."""


def names(self: Stored, value: NamesLike, batch_size: Size) -> Names | None:
    """What is stored for the names that a user gives; None where there is no name among them.

    Raises:
        TypeError: a name is not a string.
        ValueError: there is not one for each batch dimension, or one stands twice.
    """
    if value is None:
        return None
    cls, ndim = type(self).__name__, len(batch_size)
    if isinstance(value, str):
        raise TypeError(
            f"{cls}.names: expected a sequence of str or None, got {value!r}; for one dimension write [{value!r}]"
        )
    chosen = tuple(value)
    for name in chosen:
        if name is not None and not isinstance(name, str):
            raise TypeError(f"{cls}.names: expected str or None for each dimension, got {name!r}")
        if name is not None and chosen.count(name) > 1:
            raise ValueError(f"{cls}.names: expected different names, got {name!r} twice in {list(chosen)}")
    if len(chosen) != ndim:
        raise ValueError(
            f"{cls}.names: expected one for each of {ndim} batch dimension{'' if ndim == 1 else 's'}, got {list(chosen)}"
        )
    return chosen if any(name is not None for name in chosen) else None


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
        raise ValueError(f"no dimension of {type(self).__name__} is called {name!r}; the names are {list(known)}")
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


def refine_names(self: T, *names: str | EllipsisType | None) -> T:
    """The object with names for dimensions that have none; an ellipsis stands for the dimensions between. Tensors are not copied.

    >>> Batch(torch.zeros(2, 3), batch_size=[2, 3]).refine_names("time", ...).names
    ('time', None)

    Raises:
        ValueError: a dimension has another name already, or there is not one name for each dimension.
    """
    old = get_names(self)
    if names.count(...) > 1:
        raise ValueError(f"{type(self).__name__}.refine_names: expected one ellipsis at most, got {names.count(...)}")
    if ... in names:
        at = names.index(...)
        after = len(names) - at - 1
        names = (*names[:at], *old[at : len(old) - after], *names[at + 1 :])
    new = _checked(self, [name for name in names if name is not ...])
    for before, after_ in zip(old, new, strict=True):
        if before is not None and before != after_:
            raise ValueError(
                f"{type(self).__name__}.refine_names: the dimension {before!r} cannot become {after_!r}; use .rename"
            )
    return renamed(self, new)


def rename(self: T, *names: str | None, **changes: str) -> T:
    """The object with other names: all of them in order, or some by their old name; None alone takes all away.

    >>> batch = Batch(torch.zeros(2, 3), batch_size=[2, 3], names=["time", "row"])
    >>> batch.rename(time="step").names, batch.rename(None).names
    (('step', 'row'), (None, None))

    Raises:
        ValueError: no dimension has that name, or there is not one name for each dimension.
    """
    return renamed(self, _new_names(self, names, changes))


def rename_(self: T, *names: str | None, **changes: str) -> T:
    """`rename` in place.

    >>> Batch(torch.zeros(2, 3), batch_size=[2, 3]).rename_("time", "row").names
    ('time', 'row')

    Raises:
        ValueError: no dimension has that name, or there is not one name for each dimension.
        RuntimeError: the object is locked.
        FrozenInstanceError: it is frozen.
    """
    set_names(self, _new_names(self, names, changes))
    return self


def renamed(self: T, names: Names | None) -> T:
    """A copy, of which the tensors are the same, with other names, unchecked."""
    out = shallow_copy(self)
    out._names = names
    return out


def _new_names(self: Stored, names: tuple[str | None, ...], changes: dict[str, str]) -> Names:
    """The names that `rename` asks for: all of them in order, or `changes` from old to new."""
    old = get_names(self)
    if changes:
        if names:
            raise TypeError(f"{type(self).__name__}.rename: expected names in order or by their old name, not both")
        for name in changes:
            if name not in old:
                raise ValueError(
                    f"{type(self).__name__}.rename: no dimension is called {name!r}; the names are {list(old)}"
                )
        return _checked(self, [changes.get(name, name) if name is not None else None for name in old])
    return (None,) * len(old) if names == (None,) else _checked(self, names)


def _checked(self: Stored, names_: Sequence[str | None]) -> Names:
    return names(self, names_, self._batch_size) or (None,) * len(self._batch_size)


# What becomes of the names


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
