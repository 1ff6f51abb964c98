"""From recorded operations to a tensor, or to a part of it, in numbers that depend on seed and name alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import NamedTuple, cast

import torch
from torch import Tensor
from torch._ops import OpOverload

from ..deferred.evaluation import run_with
from ..deferred.replay import carry_out, operations_reaching
from ..deferred.tape import Operation, Slot, Tape
from ..sharding.placements import Part, slices, whole
from .keyed_draws import BLOCK, Draw, Key, elementwise_fill, generator_of

_CPU = torch.device("cpu")
_AT_ONCE = 2 * BLOCK
"""Elements, at most, that a part of a tensor is copied from at a time."""


def evaluate(
    tape: Tape,
    slot: int,
    keys: Mapping[int, Key],
    into: Tensor,
    part: Part | None = None,
) -> None:
    """Write the values that the operations of a record give a tensor, or a part of it, into `into`.

    All of it is computed on the CPU, so that the values are the same on every device, and copied from there. Where operations
    fill runs of memory with a number or with drawn ones, only the rows of the part are made; others make the whole tensor first.

    Args:
        tape: The record.
        slot: The tensor that is wanted.
        keys: The key of each draw, from `draw_keys`.
        into: A tensor of the size of the part, of any device and layout. Of another dtype than the slot's, values are cast.
        part: The part that is wanted; None for all of the tensor.
    """
    wanted = tape.slots[slot]
    part = whole(wanted.size) if part is None else part
    if into.numel() == 0:
        return
    operations = operations_reaching(tape, [slot])
    with torch.no_grad():
        runs = runs_of(tape, operations, slot, keys)
        if runs:
            _fill(runs, wanted, part, into)
        else:
            into.copy_(carried_out(tape, slot, operations, keys)[slices(part)])


class Run(NamedTuple):
    """A run of a tensor's memory, in elements, and what writes any range of it, which starts `at` an element of the run."""

    start: int
    stop: int
    write: Callable[[Tensor, int], object]


def runs_of(tape: Tape, operations: Sequence[Operation], slot: int, keys: Mapping[int, Key]) -> list[Run] | None:
    """The operations that make a slot, if all they do is fill runs of its memory with a number or with drawn ones."""
    wanted = tape.slots[slot]
    found: list[Run] = []
    for operation in operations:
        if leaves_unwritten(operation) or _is_view(operation.overload):
            continue
        write = _writer(tape, operation, keys)
        if write is None:
            return None
        into = tape.slots[operation.results[0]]
        if (into.storage, into.dtype) != (wanted.storage, wanted.dtype) or not into.is_run:
            return None
        if into.offset == wanted.offset and into.end == wanted.end:
            found.clear()  # all before it, such as the first of two initialisations, is written over
        found.append(Run(into.offset - wanted.offset, into.end - wanted.offset, write))
    return found if wanted.is_run else None


def leaves_unwritten(operation: Operation) -> bool:
    """Whether an operation makes a tensor without writing to its memory, as `empty_like` does."""
    return operation.overload._schema.name.startswith(("aten::empty", "aten::_empty", "aten::new_empty"))


_OTHER_VALUES = {torch.ops.aten._conj.default, torch.ops.aten._neg_view.default}
"""Views that read other values than there are in the memory."""


def _is_view(overload: OpOverload) -> bool:
    is_alias = any(a.alias_info is not None and not a.alias_info.is_write for a in overload._schema.arguments)
    return is_alias and overload not in _OTHER_VALUES


def _writer(tape: Tape, operation: Operation, keys: Mapping[int, Key]) -> Callable[[Tensor, int], object] | None:
    """A function that writes any range of the memory that an operation fills; None if the operation does anything else."""
    overload, args = operation.overload, operation.args
    if overload in (torch.ops.aten.zero_.default, torch.ops.aten.fill_.Scalar):
        value = cast("float", args[1] if len(args) > 1 else 0)
        return lambda flat, at: flat.fill_(value)
    fill = elementwise_fill(overload, args, operation.kwargs)
    if fill is None or operation.index not in keys:
        return None
    return Draw(fill, keys[operation.index], prod(tape.slots[operation.results[0]].size)).into


def _fill(runs: Sequence[Run], wanted: Slot, part: Part, into: Tensor) -> None:
    """Write a part into `into`: in place if it is a run of memory, and otherwise some of the rows that it lies in at a time."""
    row = prod(wanted.size[1:])
    first, last = part[0] if part else (0, 1)
    is_rows = part[1:] == whole(wanted.size[1:])
    if is_rows and into.is_contiguous() and into.device.type == "cpu" and into.dtype == wanted.dtype:
        _write(runs, into.view(-1), first * row)
        return
    many = max(1, _AT_ONCE // row)
    for start in range(first, last, many):
        stop = min(start + many, last)
        rows = torch.empty((stop - start, *wanted.size[1:]), dtype=wanted.dtype, device="cpu")
        _write(runs, rows.view(-1), start * row)
        found = rows[:, *slices(part[1:])]
        (into[start - first : stop - first] if part else into).copy_(found if part else found[0])


def _write(runs: Sequence[Run], flat: Tensor, low: int) -> None:
    """Write the elements of memory from `low` on."""
    for run in runs:
        start, stop = max(low, run.start), min(low + len(flat), run.stop)
        if start < stop:
            run.write(flat[start - low : stop - low], start - run.start)


def draw_keys(tape: Tape, targets: Mapping[str, int], seed: int) -> dict[int, Key]:
    """The key of each draw of a record, by the index of the operation.

    It names the first of the targets, tensors by name, that the draw reaches, and says how many draws come before it there.

    Raises:
        ValueError: an operation draws from a generator of its own.
    """
    keys: dict[int, Key] = {}
    for name, slot in targets.items():
        drawing = [operation for operation in operations_reaching(tape, [slot]) if operation.draw is not None]
        for index, operation in enumerate(drawing):
            _refuse_own_generator(operation, name)
            keys.setdefault(operation.index, Key(seed, name, index))
    return keys


def _refuse_own_generator(operation: Operation, name: str) -> None:
    given = [value for value in (*operation.args, *operation.kwargs.values()) if isinstance(value, torch.Generator)]
    if any(generator is not torch.default_generator for generator in given):
        raise ValueError(
            f"{name}: {operation.overload._schema.name} draws from a generator of its own at {operation.place};"
            " materialize() draws from its seed and the name of the tensor, so leave generator= out"
            " (or use qten_gen.deferred_init, which keeps generators)"
        )


def carried_out(
    tape: Tape,
    slot: int,
    operations: Sequence[Operation],
    keys: Mapping[int, Key],
    fill: Callable[[Iterable[Tensor]], object] = lambda memory: None,
) -> Tensor:
    """The whole tensor, by carrying out operations one after the other on the CPU; `fill` gets the memory that they find."""
    values = blank_inputs(tape, operations, [slot], _CPU)
    fill(values.values())
    on_cpu = [_on_cpu(operation) for operation in operations]
    return carry_out(tape, on_cpu, _KeyedNumbers(keys), [slot], values)[slot].detach()


def blank_inputs(
    tape: Tape, operations: Sequence[Operation], wanted: Iterable[int], device: torch.device | None = None
) -> dict[int, Tensor]:
    """Memory for the inputs of a tape that operations use, on the device that it was recorded for if none is given."""
    used = {index for operation in operations for index in (*operation.reads, *operation.results)} | {*wanted}
    ends: dict[int, int] = {}
    for each in (tape.slots[index] for index in used):
        ends[each.storage] = max(ends.get(each.storage, 0), each.end)
    memory: dict[int, Tensor] = {}
    found: dict[int, Tensor] = {}
    made = {index for operation in operations for index in operation.results if index not in operation.reads}
    for known in (tape.slots[index] for index in used - made):
        if known.storage not in memory:
            memory[known.storage] = torch.empty(
                ends[known.storage], dtype=known.dtype, device=known.device if device is None else device
            )
        found[known.index] = memory[known.storage].as_strided(known.size, known.stride, known.offset)
    return found


def _on_cpu(operation: Operation) -> Operation:
    if not any(isinstance(value, torch.device) for value in (*operation.args, *operation.kwargs.values())):
        return operation
    return replace(
        operation,
        args=tuple(_CPU if isinstance(value, torch.device) else value for value in operation.args),
        kwargs={name: _CPU if isinstance(value, torch.device) else value for name, value in operation.kwargs.items()},
    )


@dataclass(frozen=True, slots=True)
class _KeyedNumbers:
    """Random numbers of a replay that depend on keys alone."""

    keys: Mapping[int, Key]

    def draw(self, operation: Operation, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        """Carry out an operation that draws, with the numbers of its key."""
        key = self.keys[operation.index]
        fill = elementwise_fill(operation.overload, args, kwargs)
        if fill is None:
            return run_with(generator_of(key, 0), operation.overload, args, kwargs)
        made = cast(Tensor, args[0])
        Draw(fill, key, made.numel()).whole(made)
        return made
