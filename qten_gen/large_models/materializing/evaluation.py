"""From recorded operations to a tensor, or to a part of it, in numbers that depend on seed and name alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ..deferred.draws import run_with
from ..deferred.replay import Plan, carry_out, operations_reaching
from ..deferred.tape import Operation, Tape
from ..sharding.regions import Layout, Part, contiguous, copy_pieces, layout_of, layout_of_part, merged, pieces, slices
from ..sharding.regions import whole as whole_part
from .elementwise import Chain, chain_of
from .keyed_draws import BLOCK, Draw, Key, elementwise_fill, generator_of

_CPU = torch.device("cpu")


def evaluate(
    tape: Tape,
    slot: int,
    keys: Mapping[int, Key],
    into: Tensor,
    part: Part | None = None,
    given: Mapping[int, Tensor] | None = None,
) -> None:
    """Write the values that the operations of a record give a tensor, or a part of it, into `into`.

    All of it is computed on the CPU, so that the values are the same on every device, and copied from there. Operations that make
    each element for itself need a buffer of one block; others make the whole tensor first.

    Args:
        tape: The record.
        slot: The tensor that is wanted.
        keys: The key of each draw, from `draw_keys`.
        into: A tensor of the size of the part, of any device and layout. Of another dtype than the slot's, values are cast.
        part: The part that is wanted; None for all of the tensor.
        given: Values of slots that no operation makes, whole, on the CPU. Operations must not write to them.
    """
    wanted = tape.slots[slot]
    part = whole_part(wanted.size) if part is None else part
    if into.numel() == 0:
        return
    operations = operations_reaching(tape, [slot], given or ())
    with torch.no_grad():
        chain = None if given else chain_of(tape, operations, slot, keys)
        if chain is None:
            into.copy_(_replayed(tape, slot, operations, keys, given or {})[slices(part)])
        else:
            _by_blocks(chain, part, wanted.size, into)


def needs_whole(tape: Tape, slot: int, keys: Mapping[int, Key]) -> bool:
    """Whether a part of the tensor cannot be made without the rest."""
    return chain_of(tape, operations_reaching(tape, [slot]), slot, keys) is None


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


def _by_blocks(chain: Chain, part: Part, shape: tuple[int, ...], result: Tensor) -> None:
    """Write the part into `result`, block by block. A block that is a run of the part is made in place."""
    if chain.constant is not None:
        # A number that is filled in is rounded to the dtype of the slot first.
        result.copy_(torch.full((), chain.constant, dtype=chain.target.dtype, device="cpu"))
        return
    source, into = merged(layout_of_part(contiguous(shape), part), layout_of(result))
    in_place = source.is_run and into.is_run and result.device.type == "cpu" and result.dtype == chain.target.dtype
    flat = torch.as_strided(result, into.size, into.stride).view(-1) if in_place else result
    for low in range(source.offset // BLOCK * BLOCK, source.end, BLOCK):
        high = min(low + BLOCK, chain.numel)
        if in_place and source.offset <= low and high <= source.end:
            chain.block(low, high, flat[low - source.offset : high - source.offset])
        elif next(pieces(source, low, high), None) is not None:
            copy_pieces(chain.block(low, high), low, source, result, into)


def _replayed(
    tape: Tape, slot: int, operations: Sequence[Operation], keys: Mapping[int, Key], given: Mapping[int, Tensor]
) -> Tensor:
    """The whole tensor, by carrying out the operations one after the other on the CPU."""
    values = {**blank_inputs(tape, operations, [slot], _CPU), **given}
    plan = Plan([_on_cpu(operation) for operation in operations])
    return carry_out(tape, plan, _KeyedNumbers(keys), [slot], values)[slot].detach()


def blank_inputs(
    tape: Tape, operations: Sequence[Operation], wanted: Iterable[int], device: torch.device | None = None
) -> dict[int, Tensor]:
    """Memory for the inputs of a tape that operations use, on the device that it was recorded for if none is given."""
    used = {index for operation in operations for index in (*operation.reads, *operation.results)} | {*wanted}
    ends: dict[int, int] = {}
    for each in (tape.slots[index] for index in used):
        ends[each.storage] = max(ends.get(each.storage, 0), Layout(each.size, each.stride, each.offset).end)
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

    def plan(self, needed: Sequence[Operation]) -> Plan:
        return Plan(needed)

    def draw(self, operation: Operation, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        """Carry out an operation that draws, with the numbers of its key."""
        key = self.keys[operation.index]
        fill = elementwise_fill(operation.overload, args, kwargs)
        if fill is not None and operation.writes:
            made = args[0]
        else:
            made = run_with(generator_of(key, 0), operation.overload, args, kwargs)
        if fill is not None:
            assert isinstance(made, Tensor)
            Draw(fill, key, made.numel()).whole(made)
        return made

    def pass_over(self, operation: Operation) -> None:
        """Nothing is planned that is not needed."""
