"""The arrays of NumPy that a recorded program got of its tensors."""

from __future__ import annotations

import weakref
from collections.abc import Collection

import torch
from torch import Tensor
from torch.utils._python_dispatch import _disable_current_modes

from .evaluation import Evaluation


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
