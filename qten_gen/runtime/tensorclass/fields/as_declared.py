"""Converts defaults, and values saved by an older declaration, to what a field stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Size

from ....common.field_kinds import FieldKind
from ..core.construction import default
from ..core.contents import nested_class
from ..core.error_text import suggestion
from ..core.stored import Stored
from .annotated_shapes import refuse_contents, shaped
from .dicts_and_lists import tensor_dict, tensor_list, unbatched
from .nested import nested
from .per_item import per_item
from .ragged import ragged
from .static import cast_static, static
from .tensor import NumberKind, number, tensor

if TYPE_CHECKING:
    from ...declaring.declared_class import FieldSummary


def as_declared(
    self: Stored, declared: FieldSummary, value: object, batch_size: Size, device: torch.device | None
) -> object:
    """The value to store in a field, checked and converted as the generated constructor does it.

    Args:
        self: An object of the class, which need not be filled yet.
        batch_size: The one that the object has, or is to have; so with the device.

    Raises:
        TypeError, ValueError: the constructor would not take the value.
    """
    name = declared.name
    if value is None and declared.optional:
        return None
    # In this order: PerItem fields are among the static ones.
    if name in self._per_item:
        return per_item(self, name, value, batch_size)
    if name in self._static:
        return static(self, name, value) if declared.cast is None else cast_static(self, name, declared.cast, value)
    if name in self.__ragged__:
        rows = cast(Any, nested_class(type(self), name)).rows_class
        shape = (
            (declared.dtype or "Shaped", declared.dims)
            if declared.dims and type(self)._declared_as.checks == "on"
            else None
        )
        return ragged(self, name, rows, value, batch_size, device, shape)
    if name in self._nested:
        size = Size() if name in self._unbatched else batch_size  # the rows of a Ragged
        return nested(self, name, nested_class(type(self), name), value, size, device)
    if declared.container is not None:
        check = tensor_dict if declared.container == "dict" else tensor_list
        return check(self, name, value, None if declared.unbatched else batch_size, device)
    if name in self._shapes:
        return shaped(self, name, value, batch_size, device)
    if declared.unbatched:
        return unbatched(self, name, value, device)
    if declared.kind is FieldKind.NUMBER:
        return number(self, name, value, batch_size, device, cast("NumberKind", declared.cast))
    return tensor(self, name, value, batch_size, device)


def fit_saved(self: Stored, saved: dict[str, object], batch_size: Size, device: torch.device | None) -> None:
    """Convert values that were saved, by the names of fields, to the class as it is declared now. New fields get defaults.

    Raises:
        TypeError, ValueError: a field was removed, or has no default, or would not take what was saved or the default.
    """
    kind = type(self)
    for name in saved:
        if name not in self._fields:
            raise TypeError(f"{kind.__name__} has no field {name!r}{suggestion(name, self._fields)}")
    for declared in kind._declared_as.fields:
        name = declared.name
        is_added = name not in saved
        if is_added and name not in kind._defaults:
            raise TypeError(f"{kind.__name__}: nothing was saved for the field {name!r}, which has no default")
        value = default(self, name) if is_added else saved[name]
        try:
            saved[name] = as_declared(self, declared, value, batch_size, device)
        except (TypeError, ValueError) as error:
            if not is_added:
                raise
            reason = f"nothing was saved for the field {name!r}, and its default does not fit"
            raise type(error)(f"{kind.__name__}: {reason}: {error}") from None
    if self._shapes:
        refuse_contents(self, batch_size, saved)
