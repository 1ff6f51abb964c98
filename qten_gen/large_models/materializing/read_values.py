"""The values that an initialisation reads while it is recorded."""

from __future__ import annotations

from collections.abc import Collection

from torch import Tensor
from torch.utils._python_dispatch import _disable_current_modes

from ..deferred.evaluation import Evaluation
from ..deferred.replay import operations_reaching, replay
from .evaluation import blank_inputs
from .written import gap_in


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
        return replay(self._tape, slots, numbers=self.numbers, given=given)
