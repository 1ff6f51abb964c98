"""What generated code calls for `Ragged` fields: `ragged`. In all else they are nested objects; see `ragged_storage.py`."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Size, Tensor

from ...declaring.loading import Undeclared
from ..core.contents import nested_class
from ..core.error_text import label
from ..core.stored import Stored
from .annotated_shapes import fits_alone
from .ragged_rows import from_items
from .ragged_storage import RaggedStorage


def ragged(
    self: Stored,
    name: str,
    cls: type[Any],
    value: object,
    batch_size: Size,
    device: torch.device | None,
    shape: tuple[str, str] | None = None,
) -> Any:
    """The object to store in a field: a `Ragged`, whose class stands above this file.

    Args:
        cls: The class of the rows, `Tensor` or a TensorClass.
        value: A Ragged; the rows of each item, in lists as deep as there are batch dimensions; a jagged nested tensor.
        batch_size: The owner's, with which that of the Ragged starts.
        device: The owner's; None leaves the rows where they are.
        shape: Dtype and dimensions of the rows, as the annotation says them.

    Raises:
        TypeError: the rows are of another class.
        ValueError: there are more items or fewer, or a shape or dtype is another.
    """
    where = label(self, name)
    if cast("type", cls) is Undeclared:
        cls = cast(Any, nested_class(type(self), name)).rows_class
    found: RaggedStorage = value if isinstance(value, RaggedStorage) else from_items(where, cls, value, batch_size)
    rows = found._rows
    if not isinstance(rows, cls):
        raise TypeError(f"{where}: expected Ragged[{cls.__name__}], got Ragged[{type(rows).__name__}]")
    if found._batch_size[: len(batch_size)] != batch_size:
        raise ValueError(
            f"{where}: expected items for the batch size {list(batch_size)}, got {list(found._batch_size)}"
        )
    if shape is not None and not fits_alone(rows, *shape):
        words = shape[1].split()
        turned = len(words) == rows.dim() == 2 and words[1].isdecimal() and rows.shape[0] % int(words[1]) == 0
        raise ValueError(
            f'{where}: expected {shape[0]}[Tensor, "{shape[1]}"] for each item, got rows of dtype {rows.dtype} and shape '
            f"{list(rows.shape)}{f'; transpose items of shape [{words[1]}, {words[0]}]' if turned else ''}"
        )
    return found if device is None or found._device == device else found._map_with(Tensor.to, device, device)
