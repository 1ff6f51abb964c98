"""The value of a field that does not come through the constructor: a default, or what a class declared otherwise has saved."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import torch
from torch import Size

from ..core.contents import nested_class
from ..core.stored import Stored
from .annotated_shapes import shaped
from .dicts_and_lists import tensor_dict, tensor_list
from .nested import nested
from .number import NumberKind, number
from .per_item import per_item
from .static import cast_static
from .tensor import tensor
from .tensordict_fields import held
from .unbatched import unbatched

if TYPE_CHECKING:
    from ...declaring.kept_facts import FieldSummary


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
    if name in self._per_item:
        return per_item(self, name, value, batch_size)
    if name in self._static:
        return value if declared.cast is None else cast_static(self, name, declared.cast, value)
    if name in self._collections:
        return held(self, name, value, batch_size, device)
    if name in self._nested:
        return nested(self, name, nested_class(type(self), name), value, batch_size, device)
    if declared.container is not None:
        check = tensor_dict if declared.container == "dict" else tensor_list
        return check(self, name, value, None if declared.unbatched else batch_size, device)
    if name in self._shapes:
        return shaped(self, name, value, batch_size, device)
    if declared.unbatched:
        return unbatched(self, name, value, device)
    if declared.kind == "number":
        return number(self, name, value, batch_size, device, cast("NumberKind", declared.cast))
    return tensor(self, name, value, batch_size, device)
