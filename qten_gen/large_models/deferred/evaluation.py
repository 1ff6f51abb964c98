"""The values of a program that is still being recorded: what `.item()` and `numpy()` in a constructor answer."""

from __future__ import annotations

import weakref
from collections.abc import Collection

import torch
from torch import Tensor
from torch.utils._python_dispatch import _disable_current_modes

from .draws import RecordedNumbers
from .replay import carry_out, operations_reaching
from .tape import Tape


class Evaluation:
    """Replays what is on a tape so far, for the values that the program asks for."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self.numbers = RecordedNumbers(tape)

    def values(self, slots: Collection[int]) -> dict[int, Tensor]:
        """The tensors of slots as the program would have them now."""
        with self.numbers.lock:
            operations = self.numbers.plan(operations_reaching(self._tape, slots))
            return carry_out(self._tape, operations, self.numbers, slots, {})


class Arrays:
    """Keeps arrays up to date while the program changes the tensors that it got them of."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self._arrays: list[tuple[weakref.ref[object], Tensor, int, int]] = []

    def hand_out(self, array: object, values: Tensor, slot: int, storage: int) -> None:
        """Note an array: it is a view of `values`, which are those of a slot, a part of a storage."""
        self._arrays.append((weakref.ref(array), values, slot, storage))

    def refresh(self, changed: Collection[int]) -> None:
        """Give the arrays that still exist the values of now, where an operation has changed their storages."""
        if not self._arrays or not changed:
            return
        self._arrays = [each for each in self._arrays if each[0]() is not None]
        for _, values, slot, storage in self._arrays:
            if storage in changed:
                now = self._evaluation.values([slot])[slot]
                with torch.no_grad(), _disable_current_modes():
                    values.detach().copy_(now)
