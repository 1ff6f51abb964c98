"""What an initialisation reads while it is recorded."""

from __future__ import annotations

from collections.abc import Collection

from torch import Tensor

from ..deferred.evaluation import Evaluation
from ..deferred.replay import operations_reaching


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
