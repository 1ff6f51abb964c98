"""Tells whether two tensors of a record were made alike: by the same operations, with the same arguments."""

from __future__ import annotations

from ..deferred.tape import Operation, SlotRef, Tape
from .written import COPIES

_FILLS = {
    f"aten::{name}"
    for name in "bernoulli_ cauchy_ exponential_ fill_ geometric_ log_normal_ normal_ random_ uniform_ zero_".split()
}
"""Operations in place that write each element, and read none."""


def histories(tape: Tape) -> dict[int, int]:
    """A number for each storage that something was written to, equal where the same operations wrote the same.

    Two draws from one distribution are the same. What is written over as a whole is forgotten, as is what memory a tensor has.
    """
    found: dict[int, int] = {}

    def said(value: object) -> object:
        if isinstance(value, SlotRef):
            slot = tape.slots[value.slot]
            return found.get(slot.storage, 0), slot.size, slot.stride, slot.offset
        return [said(each) for each in value] if isinstance(value, (list, tuple)) else value

    ends: dict[int, int] = {}
    for operation in tape.operations:
        name = operation.overload._schema.name
        results = {tape.storage_of(slot) for slot in operation.results}
        for slot in (tape.slots[index] for index in operation.results):
            ends[slot.storage] = max(ends.get(slot.storage, 0), slot.end)
        made = results.difference(map(tape.storage_of, operation.reads)) if "empty" not in name else set()
        changed = made.union(operation.writes)
        if not changed:
            continue
        is_over = bool(operation.writes) and _is_over_all(tape, operation, ends)
        if name in COPIES and (not operation.writes or is_over) and operation.reads:
            number = found.get(tape.storage_of(operation.reads[-1]), 0)
        else:
            args = operation.args[1:] if is_over and name in _FILLS else operation.args
            number = hash(repr((name, said(args), [(key, said(each)) for key, each in operation.kwargs.items()])))
        found.update(dict.fromkeys(changed, number))
    return found


def _is_over_all(tape: Tape, operation: Operation, ends: dict[int, int]) -> bool:
    """Whether the first argument of an operation in place is all of its storage."""
    first = operation.args[0] if operation.args else None
    if not isinstance(first, SlotRef):
        return False
    slot = tape.slots[first.slot]
    return slot.is_run and slot.offset == 0 and slot.end >= ends.get(slot.storage, 0)
