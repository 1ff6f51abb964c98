"""Which elements of a tensor an initialisation has written, as far as its operations say so.

An operation fills the whole view that it writes to, unless it only changes what is there, as `mul_` does. Where a part of the
view is chosen by values, as in `masked_fill_`, or memory is exchanged, all of it counts as filled: nobody can know.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import gcd

import torch

from ..deferred.overloads import traits
from ..deferred.replay import operations_reaching
from ..deferred.tape import Operation, Slot, SlotRef, Tape, references

_CHANGES = {"aten::add_", "aten::sub_", "aten::mul_", "aten::div_", "aten::native_batch_norm"}
"""Operations that read each element that they write: what nothing has filled stays so."""

_UNKNOWN = {"aten::resize_", "aten::resize_as_", "aten::set_"}
"""Operations that give a tensor other memory than the one that its slot is a view of."""

_MOST = 1 << 24
"""Units of memory that are followed one by one. Beyond it, a tensor that is written in parts counts as filled."""


@dataclass(frozen=True, slots=True)
class Gap:
    """What is missing of a tensor."""

    index: tuple[int, ...]
    """The first element that nothing fills."""
    is_all: bool
    """Whether nothing fills any element."""


_Run = tuple[tuple[int, ...], tuple[int, ...], int, int]
"""A view as runs of memory: how many there are in each dimension, their strides, where the first one starts, the length of each;
in bytes."""


def gap_in(tape: Tape, slot: int) -> Gap | None:
    """What nothing fills of a slot; None if all elements are filled, or nobody can know."""
    target = tape.slots[slot]
    if 0 in target.size:
        return None
    written: list[Slot] = []
    for operation in operations_reaching(tape, [slot]):
        found = _filled(tape, operation, target.storage)
        if found is None or any(_is_all(view, target) for view in found):
            return None
        written += found
    runs = [_runs(view) for view in written if 0 not in view.size]
    index = _first_missing(_runs(target), runs, target)
    return None if index is None else Gap(index, not runs)


def _filled(tape: Tape, operation: Operation, storage: int) -> list[Slot] | None:
    """The views of a storage that an operation fills; None if it makes the storage with values, or nobody can know."""
    name = operation.overload._schema.name
    if storage not in operation.writes:
        makes = any(tape.storage_of(slot) == storage for slot in operation.results)
        is_view = any(tape.storage_of(slot) == storage for slot in operation.reads)
        return None if makes and not is_view and "empty" not in name else []
    if name in _CHANGES:
        return []
    views = [view for view in _written_to(tape, operation) if view.storage == storage]
    return None if name in _UNKNOWN or not views else views


def _written_to(tape: Tape, operation: Operation) -> Iterator[Slot]:
    """The views that an operation writes to."""
    for position, name in traits(operation.overload).written:
        given = operation.args[position] if position < len(operation.args) else operation.kwargs.get(name)
        for reference in references([given]):
            if isinstance(reference, SlotRef):
                yield tape.slots[reference.slot]


def _is_all(view: Slot, target: Slot) -> bool:
    return (view.size, view.stride, view.offset, view.dtype) == (
        target.size,
        target.stride,
        target.offset,
        target.dtype,
    )


def _runs(view: Slot) -> _Run:
    item = view.dtype.itemsize
    size, stride, length = list(view.size), [each * item for each in view.stride], item
    while size and (size[-1] == 1 or stride[-1] == length):
        length *= size.pop()
        stride.pop()
    return tuple(size), tuple(stride), view.offset * item, length


def _first_missing(target: _Run, written: Sequence[_Run], slot: Slot) -> tuple[int, ...] | None:
    """The index of the first element of the target, which is a view of `slot`, that no other view covers.

    Memory is followed in units, the largest that no view cuts.
    """
    unit = gcd(*(number for _, strides, start, length in (target, *written) for number in (*strides, start, length)))
    end = max(
        start + length + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
        for sizes, strides, start, length in (target, *written)
    )
    if end // unit > _MOST:
        return None
    memory = torch.zeros(end // unit, dtype=torch.bool, device="cpu")

    def view_of(sizes: tuple[int, ...], strides: tuple[int, ...], start: int, length: int) -> torch.Tensor:
        return memory.as_strided((*sizes, length // unit), (*(each // unit for each in strides), 1), start // unit)

    for view in written:
        view_of(*view).fill_(True)
    missing = view_of(*target).logical_not().flatten()
    if not bool(missing.any()):
        return None
    flat = int(missing.int().argmax()) * unit // slot.dtype.itemsize
    index: list[int] = []
    for extent in reversed(slot.size):
        flat, here = divmod(flat, extent)
        index.append(here)
    return tuple(reversed(index))
