"""The parts of a record that share no memory, so that a tensor is looked for among the operations that may make it."""

from __future__ import annotations

from dataclasses import replace

from ..deferred.groups import joined
from ..deferred.tape import Operation, Tape


class Components:
    """A tape, taken apart into tapes whose operations share no memory.

    Slots, and the indices of operations, are those of the whole tape. The tape must not grow any more.
    """

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._groups = joined(map(tape.storages_of, tape.operations))
        operations: dict[int, list[Operation]] = {}
        for operation in tape.operations:
            for storage in tape.storages_of(operation)[:1]:
                operations.setdefault(self._groups.root(storage), []).append(operation)
        self._parts = {root: replace(tape, operations=found) for root, found in operations.items()}
        self._nothing = replace(tape, operations=[])

    def of(self, slot: int) -> Tape:
        """The operations that share memory with a slot, directly or through others."""
        return self._parts.get(self._groups.root(self._tape.storage_of(slot)), self._nothing)
