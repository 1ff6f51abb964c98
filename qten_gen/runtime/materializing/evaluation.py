"""From recorded operations to a tensor, or to a part of it, in numbers that depend on seed and name alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor
from torch.utils._pytree import tree_iter, tree_map_only

from .elementwise import Chain, chain_of
from .keyed_draws import BLOCK, Draw, Key, default_generator, elementwise_fill, one_generator
from .recorded import Operation, Slot, Tape
from .regions import Part, contiguous, copy_pieces, layout_of, layout_of_part, merged, pieces, size_of, slices
from .regions import whole as whole_part

Reaching = Sequence[tuple[int, Operation]]


def evaluate(
    tape: Tape, target: Tensor, keys: Mapping[int, Key], part: Part | None = None, device: torch.device | None = None
) -> Tensor:
    """The values that the operations of a record give a tensor, or a part of it.

    All of it is computed on the CPU, so that the values are the same on every device, and copied from there.

    Args:
        tape: The record.
        target: The fake of the tensor that is wanted.
        keys: The key of each draw, from `draw_keys`.
        part: The part to return; None for all of it.
        device: The device of the result; None for the CPU.

    Returns:
        A new tensor of the dtype of `target` and of the size of the part, contiguous.
    """
    wanted = whole_part(target.shape) if part is None else part
    result = torch.empty(size_of(wanted), dtype=target.dtype, device=device or "cpu")
    operations = reaching(tape, target)
    with torch.no_grad():
        chain = chain_of(operations, target, tape.fakes, keys)
        if chain is None:
            result.copy_(_replayed(operations, target, tape, keys)[slices(wanted)])
        else:
            _by_blocks(chain, wanted, tuple(target.shape), result)
    return result


def draw_keys(tape: Tape, targets: Mapping[str, Tensor], seed: int) -> dict[int, Key]:
    """The key of each draw of a record, by position: the first of the targets that it reaches, and how many draws came before it there."""
    keys: dict[int, Key] = {}
    for name, target in targets.items():
        index = 0
        for position, operation in reaching(tape, target):
            if torch.Tag.nondeterministic_seeded in operation.overload.tags:
                keys.setdefault(position, Key(seed, name, index))
                index += 1
    return keys


def reaching(tape: Tape, target: Tensor) -> Reaching:
    """The operations that the memory of a tensor depends on, in the order in which they ran."""

    def storage(slot: Slot) -> int:
        return tape.fakes[slot.id].untyped_storage()._cdata

    needed = {target.untyped_storage()._cdata}
    found = []
    for position in reversed(range(len(tape.operations))):
        operation = tape.operations[position]
        if needed.isdisjoint(storage(slot) for slot in operation.results):
            continue
        found.append((position, operation))
        needed.update(storage(slot) for slot in tree_iter((operation.args, operation.kwargs)) if isinstance(slot, Slot))
    return found[::-1]


def _by_blocks(chain: Chain, part: Part, shape: tuple[int, ...], result: Tensor) -> None:
    source, into = merged(layout_of_part(contiguous(shape), part), layout_of(result))
    if source.numel == 0:
        return
    for low in range(source.offset // BLOCK * BLOCK, source.end, BLOCK):
        if next(pieces(source, low, low + BLOCK), None) is None:
            continue
        high = min(low + BLOCK, chain.numel)
        copy_pieces(chain.block(low, high), low, source, result, into)


def _replayed(operations: Reaching, target: Tensor, tape: Tape, keys: Mapping[int, Key]) -> Tensor:
    """The whole tensor, by carrying out the operations one after the other."""
    values: dict[int, Tensor] = {}
    storages: dict[int, Tensor] = {}

    def value(slot: Slot) -> Tensor:
        fake = tape.fakes[slot.id]
        if slot.id not in values:
            storage = fake.untyped_storage()
            flat = storages.setdefault(
                storage._cdata, torch.empty(storage.nbytes() // fake.element_size(), dtype=fake.dtype)
            )
            values[slot.id] = flat.as_strided(fake.shape, fake.stride(), fake.storage_offset())
        return values[slot.id]

    for position, operation in operations:
        args, kwargs = tree_map_only(Slot, value, (operation.args, dict(operation.kwargs)))
        if "device" in kwargs:
            kwargs["device"] = torch.device("cpu")
        key = keys.get(position)
        fill = elementwise_fill(operation.overload, args, kwargs) if key is not None else None
        if key is not None and fill is not None:
            out = value(operation.results[0])
            Draw(fill, key, out.numel()).whole(out)
            continue
        if key is not None:
            given = one_generator(operation.overload, key)
            if given:
                result = operation.overload(*args, **{**kwargs, **given})
            else:
                with default_generator(key):
                    result = operation.overload(*args, **kwargs)
        else:
            result = operation.overload(*args, **kwargs)
        for slot, found in zip(operation.results, (x for x in tree_iter(result) if isinstance(x, Tensor)), strict=True):
            values[slot.id] = found
            storages[tape.fakes[slot.id].untyped_storage()._cdata] = found
    return value(tape.slot(target))
