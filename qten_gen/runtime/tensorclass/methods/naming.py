"""Other names for the batch dimensions: `refine_names`, `rename` and `rename_`."""

from __future__ import annotations
from .reshaping import T

from collections.abc import Sequence
from types import EllipsisType
from typing import TypeVar

from ..core.contents import shallow_copy
from ..core.dimension_names import Names, get_names, set_names
from ..core.dimension_names import names as checked_names
from ..core.stored import Stored



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
    return _renamed(self, new)


def rename(self: T, *names: str | None, **changes: str) -> T:
    """The object with other names: all of them in order, or some by their old name; None alone takes all away.

    >>> batch = Batch(torch.zeros(2, 3), batch_size=[2, 3], names=["time", "row"])
    >>> batch.rename(time="step").names, batch.rename(None).names
    (('step', 'row'), (None, None))

    Raises:
        ValueError: no dimension has that name, or there is not one name for each dimension.
    """
    return _renamed(self, _new_names(self, names, changes))


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


def _renamed(self: T, names: Names | None) -> T:
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


def _checked(self: Stored, names: Sequence[str | None]) -> Names:
    return checked_names(self, names, self._batch_size) or (None,) * len(self._batch_size)
