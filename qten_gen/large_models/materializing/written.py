"""What an initialisation has written and reads, as its record says: all of a tensor, or the same as to another.

Most tensors are filled as a whole, or in runs of memory, which the operations say. The others are computed several times, with
other values in all memory that nothing has written: an element that comes out differently depends on such memory, however often
it was copied.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.utils._python_dispatch import _disable_current_modes

from ..deferred.evaluation import Evaluation
from ..deferred.replay import carry_out, operations_reaching
from ..deferred.tape import Operation, Slot, SlotRef, Tape
from .evaluation import Run, blank_inputs, carried_out, leaves_unwritten, runs_of
from .keyed_draws import Key

_FILLS = {
    "qten_gen::trunc_normal_",
    *(
        f"aten::{name}"
        for name in "bernoulli_ cauchy_ exponential_ fill_ geometric_ log_normal_ normal_ random_ uniform_ zero_".split()
    ),
}
"""Operations in place that write each element of the first argument, and do not read it."""

_COPIES = {"aten::_to_copy", "aten::clone", "aten::copy_"}
"""Operations of which each element of the result is one of the source."""

_POISONS = (0x00,), (0xFF,), (0x7B,), (0xFB,), (0x40, 0xC0, 0x7B)
"""What stands for memory that nothing has written: bytes for its elements, by turns.

As floating point numbers of any size they are zero, not a number, a large number and its opposite, and small ones. So hardly
any comparison, conversion or order makes the same of all of them.
"""


@dataclass(frozen=True, slots=True)
class Gap:
    """The missing part of a tensor."""

    index: tuple[int, ...]
    """The first element that nothing fills."""
    is_all: bool
    """Whether nothing fills any element."""
    source: Operation | None = None
    """The operation that writes to the tensor, but from memory that nothing has written."""


def gap_in(tape: Tape, slot: int) -> Gap | None:
    """What nothing fills of a slot; None if all elements are filled."""
    operations = operations_reaching(tape, [slot])
    missing = _missing(tape, slot, operations)
    if missing is None:
        return None
    flat, is_all = missing
    index: list[int] = []
    for extent in reversed(tape.slots[slot].size):
        flat, here = divmod(flat, extent)
        index.append(here)
    return Gap(tuple(reversed(index)), is_all, _source(tape, operations, tape.storage_of(slot)))


def _source(tape: Tape, operations: Sequence[Operation], storage: int) -> Operation | None:
    """The last operation that brought what nothing has written from other memory into a storage."""
    for operation in reversed(operations):
        if storage in tape.storages_of(operation) and not _is_about_shape(operation):
            for read in operation.reads:
                if tape.storage_of(read) != storage and _missing(tape, read, operations_reaching(tape, [read])):
                    return operation
    return None


def _missing(tape: Tape, slot: int, operations: Sequence[Operation]) -> tuple[int, bool] | None:
    """The first element that nothing fills, in the order of elements, and whether nothing fills any; None if all are filled."""
    wanted = tape.slots[slot]
    if 0 in wanted.size or wanted.storage in _filled(tape, operations):
        return None
    keys = {operation.index: Key(0, "", operation.index) for operation in operations}
    runs = runs_of(tape, operations, slot, keys)
    if runs is not None:
        return _first_between(runs, wanted.end - wanted.offset)
    if any(_grows(tape, operation) for operation in operations):
        return 0, False  # such memory is made within an operation, where no poison gets
    first = _poisoned(tape, slot, operations, keys, _POISONS[0])
    differs = torch.zeros((), dtype=torch.bool, device="cpu")
    for poison in _POISONS[1:]:
        other = _poisoned(tape, slot, operations, keys, poison)
        if not torch.equal(first, other):
            differs = differs | (first != other).any(1)
        del other  # before the next one is computed
    numbers_in_element = wanted.dtype.itemsize // first.shape[1]
    return (int(differs.int().argmax()) // numbers_in_element, bool(differs.all())) if bool(differs.any()) else None


def _filled(tape: Tape, operations: Sequence[Operation]) -> set[int]:
    """The storages of which operations have filled all, from others that are filled. There may be more."""
    ends = _ends(tape, operations)
    found: set[int] = set()
    for operation in operations:
        name = operation.overload._schema.name
        is_over = bool(operation.writes) and name in _FILLS | _COPIES and _is_over_all(tape, operation, ends)
        read = () if _is_about_shape(operation) else operation.reads[1:] if is_over else operation.reads
        if _grows(tape, operation) or not found.issuperset(map(tape.storage_of, read)):
            found.difference_update(operation.writes)
        elif not leaves_unwritten(operation):
            found.update(operation.writes, map(tape.storage_of, operation.results))
    return found


def _is_about_shape(operation: Operation) -> bool:
    """Whether an operation reads the sizes of its arguments alone, as `zeros_like` does."""
    namespace, _, name = operation.overload._schema.name.partition("::")
    return namespace == "aten" and (name.endswith("_like") or name.startswith(("new_", "empty")))


def _grows(tape: Tape, operation: Operation) -> bool:
    """Whether an operation gives a tensor more memory than it had."""
    if operation.overload._schema.name not in ("aten::resize_", "aten::resize_as_"):
        return False
    return tape.slots[operation.results[0]].end > tape.slots[operation.reads[0]].end


def _first_between(runs: Iterable[Run], length: int) -> tuple[int, bool] | None:
    """The first element of a run of memory that none of some runs in it has, and whether none has any."""
    at = 0
    for start, stop in sorted((max(run.start, 0), min(run.stop, length)) for run in runs):
        if start < stop and start <= at:
            at = max(at, stop)
    is_all = not any(max(run.start, 0) < min(run.stop, length) for run in runs)
    return None if at >= length else (at, is_all)


def _poisoned(
    tape: Tape, slot: int, operations: Sequence[Operation], keys: Mapping[int, Key], poison: Sequence[int]
) -> Tensor:
    """The bytes of each number that operations give a slot, with a poison in all memory that nothing has written."""
    making = [operation for operation in operations if not leaves_unwritten(operation)]

    def fill(memory: Iterable[Tensor]) -> None:
        for tensor in memory:
            whole = torch.empty(0, dtype=tensor.dtype, device="cpu").set_(tensor.untyped_storage())
            elements = whole.view(torch.uint8).view(-1, tensor.dtype.itemsize)
            for start, byte in enumerate(poison):
                elements[start :: len(poison)] = byte & 1 if tensor.dtype is torch.bool else byte

    with torch.no_grad(), _disable_current_modes():
        made = carried_out(tape, slot, making, keys, fill)
        plain = made.resolve_conj().resolve_neg().contiguous()
        numbers = torch.view_as_real(plain) if plain.is_complex() else plain
        return numbers.as_strided((numbers.numel(), 1), (1, 1)).view(torch.uint8)


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

    ends = _ends(tape, tape.operations)
    for operation in tape.operations:
        name = operation.overload._schema.name
        results = {tape.storage_of(slot) for slot in operation.results}
        made = set() if leaves_unwritten(operation) else results.difference(map(tape.storage_of, operation.reads))
        changed = made.union(operation.writes)
        if not changed:
            continue
        is_over = bool(operation.writes) and _is_over_all(tape, operation, ends)
        if name in _COPIES and (not operation.writes or is_over) and operation.reads:
            number = found.get(tape.storage_of(operation.reads[-1]), 0)
        else:
            args = operation.args[1:] if is_over and name in _FILLS else operation.args
            number = hash(repr((name, said(args), [(key, said(each)) for key, each in operation.kwargs.items()])))
        found.update(dict.fromkeys(changed, number))
    return found


def _ends(tape: Tape, operations: Iterable[Operation]) -> dict[int, int]:
    """The byte after the last one that operations know of, by storage."""
    found: dict[int, int] = {}
    for slot in _known(tape, operations):
        found[slot.storage] = max(found.get(slot.storage, 0), slot.end * slot.dtype.itemsize)
    return found


def _known(tape: Tape, operations: Iterable[Operation]) -> Iterator[Slot]:
    for operation in operations:
        yield from (tape.slots[index] for index in (*operation.reads, *operation.results))


def _is_over_all(tape: Tape, operation: Operation, ends: Mapping[int, int]) -> bool:
    """Whether the first argument of an operation in place is all of its storage."""
    first = operation.args[0] if operation.args else None
    if not isinstance(first, SlotRef):
        return False
    slot = tape.slots[first.slot]
    return slot.is_run and slot.offset == 0 and slot.end * slot.dtype.itemsize >= ends.get(slot.storage, 0)


class KnownValues(Evaluation):
    """Values that do not depend on random numbers: those have none before the names of all tensors are known."""

    def values(self, slots: Collection[int]) -> dict[int, Tensor]:
        """The tensors of slots.

        Raises:
            RuntimeError: random numbers decide what they are, or they come from memory that nothing has written.
        """
        operations = operations_reaching(self._tape, slots)
        for operation in operations:
            if operation.draw is not None:
                raise RuntimeError(
                    f"materialize(): an initialisation reads random values, drawn by {operation.overload._schema.name}"
                    f" at {operation.place}; what it draws must not decide what it does next"
                    " (or build the module with qten_gen.deferred_init)"
                )
        for slot in slots:
            if (gap := gap_in(self._tape, slot)) is not None:
                raise RuntimeError(
                    f"materialize(): an initialisation reads the element {list(gap.index)} of a tensor that nothing has written;"
                    " fill what it reads"
                )
        with _disable_current_modes():
            given = blank_inputs(self._tape, operations, slots)
        return carry_out(self._tape, operations, self.numbers, slots, given)
