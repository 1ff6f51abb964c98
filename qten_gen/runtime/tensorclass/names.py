"""Names of the batch dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from torch import Size

from .locks import refuse_if_locked

if TYPE_CHECKING:
    from .tensorclass import TensorClass

Names = tuple[str | None, ...]
"""A name, or None, for each batch dimension."""

NamesLike = Sequence[str | None] | None
"""What a constructor takes as `names`; None is no name at all."""


def names(self: TensorClass, value: NamesLike, batch_size: Size) -> Names | None:
    """What is stored for the names that a user gives; None where there is no name among them.

    Raises:
        TypeError: a name is no string.
        ValueError: there is not one for each batch dimension, or one stands twice.
    """
    if value is None:
        return None
    cls, n = type(self).__name__, len(batch_size)
    if isinstance(value, str):
        raise TypeError(
            f"{cls}.names: expected a sequence of str or None, got {value!r}; for one dimension write [{value!r}]"
        )
    given = tuple(value)
    for name in given:
        if name is not None and not isinstance(name, str):
            raise TypeError(f"{cls}.names: expected str or None for each dimension, got {name!r}")
        if name is not None and given.count(name) > 1:
            raise ValueError(f"{cls}.names: expected different names, got {name!r} twice in {list(given)}")
    if len(given) != n:
        raise ValueError(
            f"{cls}.names: expected one for each of {n} batch dimension{'' if n == 1 else 's'}, got {list(given)}"
        )
    return given if any(name is not None for name in given) else None


def get_names(self: TensorClass) -> Names:
    """The property `names`."""
    return self._names or (None,) * len(self._batch_size)


def set_names(self: TensorClass, value: NamesLike) -> None:
    """Set the property `names`.

    Raises:
        TypeError: a name is no string.
        ValueError: there is not one for each batch dimension, or one stands twice.
        RuntimeError: the object is locked.
        FrozenInstanceError: it is frozen.
    """
    refuse_if_locked(self, "name the dimensions of")
    self._names = names(self, value, self._batch_size)


def fitted(names: Names | None, dimensions: int) -> Names | None:
    """The names of the leading dimensions, where there are more or fewer now.

    >>> fitted(("time", "row"), 1), fitted(("time",), 2), fitted((None, "row"), 1)
    (('time',), ('time', None), None)
    """
    if names is None or len(names) == dimensions:
        return names
    kept = (*names[:dimensions], *(None,) * (dimensions - len(names)))
    return kept if any(name is not None for name in kept) else None
