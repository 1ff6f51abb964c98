"""Which elements of a tensor an initialisation has written, as far as its operations say so.

That memory was never written is a property that operations hand on: what is computed from it counts as unwritten too, wherever it
is copied. An operation fills the whole view that it writes to, unless it only changes what is there, as `mul_` does. Where values
choose a part of the view, as in `masked_fill_`, they are computed. All of it counts as filled if random numbers decide, or memory
is exchanged: nobody can know.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import gcd, prod

import torch
from torch import Tensor
from torch.utils._python_dispatch import _disable_current_modes

from ..deferred.overloads import traits
from ..deferred.replay import operations_reaching, replay
from ..deferred.tape import Operation, OutsideRef, Slot, SlotRef, Tape, references

_FILLS = {
    f"aten::{name}"
    for name in "bernoulli_ cauchy_ copy_ exponential_ fill_ geometric_ log_normal_ normal_ random_ uniform_ zero_ _foreach_copy_"
    " _foreach_zero_ fill_diagonal_ index_copy_ index_fill_ index_put_ _index_put_impl_ masked_fill_ masked_scatter_ put_"
    " scatter_".split()
}
"""Operations in place that do not read what was there. All others of torch change it."""

_CHOOSING = {
    f"aten::{name}"
    for name in "index_copy_ index_fill_ index_put_ _index_put_impl_ masked_fill_ masked_scatter_ put_ scatter_".split()
}
"""The operators that fill the elements which indices or a mask choose."""
_CHOSEN_FOR = ("value", "values", "source", "src")
"""The name of the written value in the schemas of these operators."""

COPIES = {"aten::_to_copy", "aten::clone", "aten::copy_"}
"""Operations of which each element of the result is one of the source."""

_UNKNOWN = {"aten::resize_", "aten::resize_as_", "aten::set_"}
"""Operations that give a tensor other memory than the one that its slot is a view of."""

_MOST = 1 << 24
"""Units of memory that are followed one by one. Beyond it, a tensor that is written in parts counts as filled."""


@dataclass(frozen=True, slots=True)
class Gap:
    """The missing part of a tensor."""

    index: tuple[int, ...]
    """The first element that nothing fills."""
    is_all: bool
    """Whether nothing fills any element."""
    source: Operation | None = None
    """The operation that writes to the tensor, but from memory that nothing has written."""


@dataclass(frozen=True, slots=True)
class _Write:
    """A view that an operation wrote to; of copies, which elements of it have a value now."""

    view: Slot
    has_value: Tensor | bool
    operation: Operation
    is_choice: bool = False
    """Whether the other elements stay as they are."""


@dataclass(slots=True)
class _Memory:
    """The history of a storage, in order; `is_filled` if it began with values, or nobody can know."""

    is_filled: bool = False
    writes: list[_Write] = field(default_factory=list)


_Run = tuple[tuple[int, ...], tuple[int, ...], int, int]
"""A view as runs of memory: how many there are in each dimension, their strides, where the first one starts, the length of each;
in bytes."""


def gap_in(tape: Tape, slot: int) -> Gap | None:
    """The part of a slot that nothing fills; None if all elements are filled, or nobody can know."""
    memories: dict[int, _Memory] = {}
    for operation in operations_reaching(tape, [slot]):
        _follow(tape, operation, memories)
    target = tape.slots[slot]
    missing = _missing(memories, target)
    if missing is None:
        return None
    writes = memories[target.storage].writes if target.storage in memories else []
    source = next(
        (each.operation for each in reversed(writes) if each.has_value is not True and not each.is_choice), None
    )
    has_values = any(each.has_value is not False for each in writes if 0 not in each.view.size)
    flat = int(missing.flatten().int().argmax()) * _elements_in_unit(missing, target)
    index: list[int] = []
    for extent in reversed(target.size):
        flat, here = divmod(flat, extent)
        index.append(here)
    return Gap(tuple(reversed(index)), not has_values, source)


def _follow(tape: Tape, operation: Operation, memories: dict[int, _Memory]) -> None:
    """Note what an operation does to the memory of its results and of the tensors that it writes to."""
    name = operation.overload._schema.name
    written = [(tape.slots[slot], fills) for slot, fills in _written_to(operation, name)]
    kept = {view.index for view, _ in written}
    gaps = [
        (source, missing)
        for source in (tape.slots[slot] for slot in operation.reads if slot not in kept)
        if not _is_about_shape(name) and (missing := _missing(memories, source)) is not None
    ]
    for view, fills in written:
        memory = memories.setdefault(view.storage, _Memory())
        if gaps:
            memory.writes.append(_Write(view, _handed_on(name, gaps, view), operation))
        elif fills and name in _CHOOSING:
            chosen = _chosen(tape, operation, view)
            if chosen is not False:
                memory.writes.append(_Write(view, chosen, operation, is_choice=True))
        elif fills:
            memory.writes.append(_Write(view, True, operation))
    read = {tape.storage_of(slot) for slot in operation.reads}
    for made in (tape.slots[slot] for slot in operation.results if tape.storage_of(slot) not in read):
        memory = memories.setdefault(made.storage, _Memory())
        if gaps:
            memory.writes.append(_Write(made, _handed_on(name, gaps, made), operation))
        else:
            memory.is_filled = "empty" not in name
    if name in _UNKNOWN:
        for storage in operation.writes:
            memories[storage] = _Memory(is_filled=True)


def _chosen(tape: Tape, operation: Operation, view: Slot) -> Tensor | bool:
    """The elements that an operation fills, from its indices or its mask: all if nobody can know, none if it adds to them."""
    names = [argument.name for argument in operation.overload._schema.arguments]
    given = {**dict(zip(names, operation.args, strict=False)), **operation.kwargs}
    chooses = [value for name, value in given.items() if name != names[0] and name not in _CHOSEN_FOR]
    slots = [reference.slot for reference in references(chooses) if isinstance(reference, SlotRef)]
    reaching = operations_reaching(tape, slots)
    made = {slot for each in reaching for slot in each.results}
    if prod(view.size) > _MOST or not made.issuperset(slots) or any(each.draw is not None for each in reaching):
        return True
    if given.get("accumulate") or given.get("reduce"):
        return False
    marks = torch.zeros(view.size, dtype=torch.bool, device="cpu")
    values = replay(tape, slots)

    def filled(name: str, value: object) -> object:
        if isinstance(value, (list, tuple)):
            return [filled(name, part) for part in value]
        if name not in _CHOSEN_FOR:
            found = values[value.slot] if isinstance(value, SlotRef) else value
            return tape.outside[value.index].tensor if isinstance(value, OutsideRef) else found
        size = tape.slots[value.slot].size if isinstance(value, SlotRef) else None
        size = tape.outside[value.index].tensor.size() if isinstance(value, OutsideRef) else size
        return True if size is None else torch.ones(size, dtype=torch.bool, device="cpu")

    with _disable_current_modes():
        operation.overload(marks, **{name: filled(name, value) for name, value in given.items() if name != names[0]})
    return marks


def _written_to(operation: Operation, name: str) -> Iterator[tuple[int, bool]]:
    """The slots that an operation writes to, and whether it fills them, without reading what was there."""
    arguments = operation.overload._schema.arguments
    in_place = name.startswith("aten::") and name not in _FILLS
    for position, argument in traits(operation.overload).written:
        given = operation.args[position] if position < len(operation.args) else operation.kwargs.get(argument)
        for reference in references([given]):
            if isinstance(reference, SlotRef):
                yield reference.slot, arguments[position].kwarg_only or not in_place


def _is_about_shape(name: str) -> bool:
    """Whether an operation reads the sizes of its arguments alone, as `zeros_like` does."""
    return name.endswith("_like") or name.startswith(("aten::new_", "aten::empty"))


def _handed_on(name: str, gaps: Sequence[tuple[Slot, Tensor]], result: Slot) -> Tensor | bool:
    """Which elements of a result have values, if some of what it is computed from has none."""
    source, missing = gaps[0]
    if name not in COPIES or len(gaps) > 1 or source.size != result.size:
        return False
    units = _elements_in_unit(missing, source)
    return missing.logical_not().flatten().repeat_interleave(units).view(source.size)


def _elements_in_unit(missing: Tensor, slot: Slot) -> int:
    """How many elements of a slot each truth value stands for, of those that say what is missing."""
    return prod(slot.size) // missing.numel()


def _missing(memories: dict[int, _Memory], target: Slot) -> Tensor | None:
    """Whether an element of a view is missing, in the order of its elements; None if all have values, or nobody can know.

    Memory is followed in units, the largest that no view cuts: one truth value stands for one element or for several.
    """
    memory = memories.get(target.storage, _Memory())
    writes = [each for each in memory.writes if 0 not in each.view.size]
    is_whole = all(each.has_value is True or each.is_choice for each in writes)
    is_filled = is_whole if memory.is_filled else _ends_with(writes, target)
    if is_filled or 0 in target.size:
        return None
    runs = [_runs(each.view, is_whole=isinstance(each.has_value, bool)) for each in writes]
    wanted = _runs(target, is_whole=True)
    item = target.dtype.itemsize
    unit = gcd(*(number for _, strides, start, length in (wanted, *runs) for number in (*strides, start, length)))
    end = max(
        start + length + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
        for sizes, strides, start, length in (wanted, *runs)
    )
    if end // unit > _MOST:
        return None
    written = torch.full((end // unit,), memory.is_filled, dtype=torch.bool, device="cpu")

    def view_of(sizes: tuple[int, ...], strides: tuple[int, ...], start: int, length: int) -> Tensor:
        return written.as_strided((*sizes, length // unit), (*(each // unit for each in strides), 1), start // unit)

    for each, run in zip(writes, runs, strict=True):
        view = view_of(*run)
        if isinstance(each.has_value, Tensor):
            known = each.has_value.unsqueeze(-1).expand(view.shape)
            view.copy_(view | known if each.is_choice else known)
        else:
            view.fill_(each.has_value)
    missing = view_of(*wanted).logical_not().flatten()
    if unit < item:
        missing = missing.view(-1, item // unit).any(-1)
    return missing if bool(missing.any()) else None


def _ends_with(writes: Sequence[_Write], target: Slot) -> bool:
    """Whether the last operation filled exactly this view, as nearly all initialisers do."""
    if not writes or writes[-1].has_value is not True:
        return False
    view = writes[-1].view
    return (view.size, view.stride, view.offset, view.dtype) == (
        target.size,
        target.stride,
        target.offset,
        target.dtype,
    )


def _runs(view: Slot, *, is_whole: bool) -> _Run:
    """A view as runs of memory; of single elements if it is not written as a whole."""
    item = view.dtype.itemsize
    size, stride, length = list(view.size), [each * item for each in view.stride], item
    while is_whole and size and (size[-1] == 1 or stride[-1] == length):
        length *= size.pop()
        stride.pop()
    return tuple(size), tuple(stride), view.offset * item, length
