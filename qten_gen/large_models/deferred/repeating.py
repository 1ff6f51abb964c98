"""Recorded operations once more, on other tensors: what a program would record that did the same to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import torch

from .known_tensors import KnownTensors
from .tape import Argument, Operation, OutsideRef, Slot, SlotRef, Tape, references


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a tape that reads and changes nothing but some tensors, and what it makes itself."""

    given: tuple[int, ...]
    """The slots of those tensors."""
    operations: tuple[Operation, ...]
    made: tuple[Slot, ...]
    """The slots that it enters."""

    def on(self, tape: Tape, known: KnownTensors, given: Sequence[int]) -> None:
        """Append the operations to the tape, on other tensors: slots of the same sizes, strides and dtypes, in the same order."""
        slots = dict(zip(self.given, given, strict=True))
        storages = {tape.storage_of(old): tape.storage_of(new) for old, new in slots.items()}
        for slot in self.made:
            if slot.storage not in storages:
                storages[slot.storage] = known.new_storage()
            slots[slot.index] = known.enter_as(slot, storages[slot.storage])
        for operation in self.operations:
            tape.operations.append(
                replace(
                    operation,
                    index=len(tape.operations),
                    args=tuple([_moved(value, slots) for value in operation.args]),
                    kwargs={name: _moved(value, slots) for name, value in operation.kwargs.items()},
                    reads=tuple([slots[slot] for slot in operation.reads]),
                    results=tuple([slots[slot] for slot in operation.results]),
                    writes=tuple([storages[storage] for storage in operation.writes]),
                )
            )


def passage(tape: Tape, operations: int, slots: int, given: Sequence[int]) -> Passage | None:
    """What was recorded since the tape had so many operations and slots; None if it cannot be done to other tensors.

    That is so if it uses tensors that are not among `given`, a generator of its own, or gradients.
    """
    found = tuple(tape.operations[operations:])
    made = tuple(tape.slots[slots:])
    known = {*given, *(slot.index for slot in made)}
    storages = {tape.storage_of(slot) for slot in known}
    shares = {tape.storage_of(slot) for slot in given}
    if len(shares) != len(given):
        return None
    for operation in found:
        if operation.differentiable or not storages.issuperset(operation.writes):
            return None
        if not known.issuperset(operation.reads) or not known.issuperset(operation.results):
            return None
        if any(isinstance(value, (OutsideRef, torch.Generator)) for value in _leaves(operation)):
            return None
    return Passage(tuple(given), found, made)


def _leaves(operation: Operation) -> Iterator[Argument]:
    given = (*operation.args, *operation.kwargs.values())
    yield from given
    yield from references(given)


def _moved(value: Argument, slots: Mapping[int, int]) -> Argument:
    if isinstance(value, SlotRef):
        return SlotRef(slots[value.slot])
    if isinstance(value, (list, tuple)):
        return type(value)(_moved(part, slots) for part in value)
    return value
