"""A record of operations on fake tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter, tree_map_only


@dataclass(frozen=True, slots=True)
class Slot:
    """A tensor of the record."""

    id: int


@dataclass(frozen=True, slots=True)
class Operation:
    """One call of an operator."""

    overload: OpOverload
    args: tuple[object, ...]
    kwargs: Mapping[str, object]
    results: tuple[Slot, ...]
    default_dtype: torch.dtype


@dataclass
class Tape:
    """The operations, and the fakes that stand for the slots."""

    operations: list[Operation] = field(default_factory=list)
    fakes: list[Tensor] = field(default_factory=list)

    def slot(self, tensor: Tensor) -> Slot:
        for at, known in enumerate(self.fakes):
            if known is tensor:
                return Slot(at)
        self.fakes.append(tensor)
        return Slot(len(self.fakes) - 1)


class _Recording(TorchDispatchMode):
    def __init__(self, tape: Tape) -> None:
        super().__init__()
        self.tape = tape

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        slots = tree_map_only(FakeTensor, self.tape.slot, (args, kwargs))
        results = tuple(self.tape.slot(found) for found in tree_iter(result) if isinstance(found, FakeTensor))
        self.tape.operations.append(Operation(func, slots[0], slots[1], results, torch.get_default_dtype()))
        return result


def record(function: Callable[[], object], mode: Any) -> Tape:
    """Record what a function does with fakes of a mode."""
    tape = Tape()
    with mode, _Recording(tape):
        function()
    return tape
