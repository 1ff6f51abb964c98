"""The memory that training needs: parameters, gradients, states of optimizers, and what autograd keeps."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from .model_tree import ModuleEntry, TensorEntry
from .runs import Run
from .totals import Totals


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory in bytes, by what it is for."""

    parameters: int
    buffers: int
    """Of buffers and other tensors."""
    gradients: int
    """One for each parameter that requires a gradient, of its dtype."""
    optimizers: tuple[tuple[str, int], ...]
    """The states of `torch.optim.AdamW`, and of `SGD` without momentum, which has none."""
    activations: int | None
    """What autograd keeps between forward and backward; None without a run."""


def memory_of(tree: ModuleEntry, totals: Totals, run: Run | None) -> Memory:
    """The memory of training a model."""
    trained = [
        entry
        for entry in tree.all_tensors()
        if entry.kind == "parameter" and entry.requires_grad and entry.is_initialised and entry.tied_to is None
    ]
    gradients = sum(entry.elements * dtype_of(entry).itemsize for entry in trained)
    return Memory(
        parameters=totals.parameters.bytes,
        buffers=totals.buffers.bytes + totals.attributes.bytes,
        gradients=gradients,
        optimizers=(("adamw", 2 * gradients + _STEP * len(trained)), ("sgd", 0)),
        activations=None if run is None or run.failure is not None else run.activation_bytes,
    )


_STEP = 4
"""The bytes of a counter of steps, which AdamW keeps for each parameter beside two moments of its dtype."""


def dtype_of(entry: TensorEntry) -> torch.dtype:
    """The dtype of a tensor."""
    found = getattr(torch, entry.dtype)
    assert isinstance(found, torch.dtype)
    return found
