"""What generated code calls for `Ragged` fields; see `ragged_storage.py`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import torch
from torch import Size, Tensor

from ...declaring.loading import Undeclared
from ..core.contents import nested_class
from ..core.error_text import label
from ..core.stored import Stored
from .annotated_shapes import fits_alone
from .ragged_rows import from_items
from .ragged_storage import RaggedStorage
from .tensor import Join, all_or_none

A = TypeVar("A")
R = TypeVar("R", bound="RaggedStorage | None")


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


def rearrange_ragged(
    self: Stored, name: str, fn: Callable[[Tensor, A], Tensor], value: R, argument: A, batch_size: Size
) -> R:
    """The items rearranged as `fn(tensor, argument)` rearranges tensors; None where the field is None."""
    if value is None:
        return value
    return value._rearrange(fn, argument, _extended(self, value, batch_size), (self, name))


def _extended(self: Stored, value: RaggedStorage, batch_size: Size) -> Size:
    """The batch size of a field whose object gets another batch size: the field may have more dimensions."""
    tail = value._batch_size[len(self._batch_size) :]
    return batch_size + tail if tail else batch_size


def zip_ragged(self: Stored, name: str, fn: Callable[[Tensor, Tensor], Tensor], left: R, right: R) -> R:
    """Apply `fn` to the rows of two objects, whose items have the same lengths; None in both or in neither."""
    present = _present(self, name, [left, right])
    return left if present is None else cast("R", present[0]._zip(fn, present[1], (self, name)))


def put_ragged(self: Stored, name: str, target: R, index: object, value: R) -> None:
    """Write items over others, whose lengths have been compared; None in both objects or in neither."""
    present = _present(self, name, [target, value])
    if present is not None:
        present[0]._index_put(index, present[1], (self, name))


def join_ragged(self: Stored, name: str, fn: Join, items: Sequence[R], batch_size: Size) -> R:
    """The items of several objects joined, of any lengths; None in all objects or in none."""
    present = _present(self, name, items)
    if present is None:
        return items[0]
    return cast("R", present[0]._join(fn, present, _extended(self, present[0], batch_size), (self, name)))


def part_ragged(
    self: Stored,
    name: str,
    fn: Callable[[Tensor, A], Sequence[Tensor]],
    value: R,
    argument: A,
    batch_sizes: Sequence[Size],
) -> Sequence[R]:
    """The pieces of a field: None for each where it is None."""
    if value is None:
        return [value] * len(batch_sizes)
    sizes = [_extended(self, value, size) for size in batch_sizes]
    return cast("Sequence[R]", value._split(fn, argument, sizes, (self, name)))


def _present(self: Stored, name: str, values: Sequence[R]) -> Any:
    """The values of a field in several objects, whose rows are of one class; None where all are None."""
    present: Any = all_or_none(self, name, values)
    kinds = {type(value): type(value._rows).__name__ for value in present or ()}
    if len(kinds) > 1:
        raise TypeError(f"{label(self, name)}: expected rows of one class, got {' and '.join(kinds.values())}")
    return present
