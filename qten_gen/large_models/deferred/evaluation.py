"""The values of a program that is still being recorded: what `.item()` in a constructor answers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch.utils._python_dispatch import _disable_current_modes

from .draws import RecordedNumbers, run_with
from .replay import replay
from .tape import After, State, Tape


class Evaluation:
    """Replays what is on a tape so far, for the values that the program asks for."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self.numbers = RecordedNumbers(tape)

    def values(self, slots: Collection[int]) -> dict[int, Tensor]:
        """The tensors of slots as the program would have them now."""
        with self.numbers.lock:
            return replay(self._tape, slots, numbers=self.numbers)

    def draw_at(
        self, stream: int, start: After | State, func: OpOverload, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> tuple[object, Tensor]:
        """Run an operation with the numbers of a place of the tape; what it returns, and the state of the generator after it."""
        generator = torch.Generator(self._tape.generators[stream].device)
        with _disable_current_modes():
            generator.set_state(self.numbers.state(start))
            found = run_with(generator, func, args, kwargs)
            return found, generator.get_state()
