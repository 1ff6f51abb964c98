"""What an initialisation reads while it is recorded, and what it has written when it has run."""

from __future__ import annotations

from collections.abc import Collection

from torch import Tensor

from ..deferred.evaluation import Evaluation
from ..deferred.replay import operations_reaching
from ..deferred.tape import Tape


class KnownValues(Evaluation):
    """Values that do not depend on random numbers: those have none before the names of all tensors are known."""

    def values(self, slots: Collection[int]) -> dict[int, Tensor]:
        """The tensors of slots.

        Raises:
            RuntimeError: random numbers decide what they are.
        """
        for operation in operations_reaching(self._tape, slots):
            if operation.draw is not None:
                raise RuntimeError(
                    f"materialize(): an initialisation reads random values, drawn by {operation.overload._schema.name}"
                    f" at {operation.place}; what it draws must not decide what it does next"
                    " (or build the module with qten_gen.deferred_init)"
                )
        return super().values(slots)


def is_written(tape: Tape, slot: int) -> bool:
    """Whether an operation writes to the memory of a slot, or makes it with values."""
    storage = tape.storage_of(slot)
    for operation in operations_reaching(tape, [slot]):
        if storage in operation.writes:
            return True
        makes = any(tape.storage_of(found) == storage for found in operation.results)
        is_view = any(tape.storage_of(read) == storage for read in operation.reads)
        if makes and not is_view and "empty" not in operation.overload._schema.name:
            return True
    return False
