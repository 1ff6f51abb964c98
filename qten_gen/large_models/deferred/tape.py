"""The content of a recording: operations on slots, as frozen records.

A *slot* stands for one tensor of the recorded program, a *storage* for the memory that slots share if one is a view of the other.
Both are numbers. Operations refer to slots where the program passed tensors; they own no tensor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import torch
from torch import Tensor
from torch._ops import OpOverload


@dataclass(frozen=True, slots=True)
class SlotRef:
    """Stands in the arguments of an operation for the tensor of a slot."""

    slot: int


@dataclass(frozen=True, slots=True)
class OutsideRef:
    """Stands in the arguments of an operation for a real tensor that the program took from outside: `Tape.outside` has it."""

    index: int


Argument: TypeAlias = object
"""An argument of an operation: a number, a dtype and the like, a SlotRef, an OutsideRef, or a list or tuple of arguments."""


@dataclass(frozen=True, slots=True)
class Place:
    """The line of the user's code that ran an operation."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Slot:
    """A tensor of the recorded program: which part of which storage it is.

    `offset` and `stride` count elements. `made_as` is the class that the program made of it, if it is a parameter.
    """

    index: int
    storage: int
    size: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int
    dtype: torch.dtype
    device: torch.device
    made_as: type[Tensor] | None = None

    @property
    def end(self) -> int:
        """The element of the storage after its last one."""
        if 0 in self.size:
            return self.offset
        return self.offset + 1 + sum((size - 1) * stride for size, stride in zip(self.size, self.stride, strict=True))

    @property
    def is_run(self) -> bool:
        """Whether it is one run of memory, in the order of its elements."""
        expected = 1
        for size, stride in zip(reversed(self.size), reversed(self.stride), strict=True):
            if size != 1 and stride != expected:
                return 0 in self.size
            expected *= size
        return True


@dataclass(frozen=True, slots=True)
class After:
    """Where a generator stands after the draws of an operation, which is given by its index."""

    operation: int


@dataclass(frozen=True, slots=True)
class State:
    """A state of a generator, by its index in `Tape.states`."""

    index: int


class Ending(Protocol):
    """Where the draws of another tape lead a generator: a state, which may take those draws to find out."""

    def state(self) -> Tensor: ...


@dataclass(frozen=True, slots=True)
class Later:
    """A state of a generator that is known when it is asked for: that at the end of another tape."""

    ending: Ending


@dataclass(frozen=True, slots=True)
class Draw:
    """That an operation draws random numbers, and from where.

    `stream` is the place of its generator in `Tape.generators`. `start` says which numbers come: those after the draws of an
    earlier operation, or those from a state of `Tape.states`.
    """

    stream: int
    start: After | State


@dataclass(frozen=True, slots=True)
class Operation:
    """One call of an ATen operator.

    index: its place on the tape.
    args, kwargs: as the operator takes them, with references in place of tensors.
    reads: the slots among the arguments.
    results: the slots of the tensors that it returns, in order, those of lists included; a slot among `reads` is one that the
        operator changes and returns.
    writes: the storages that it changes.
    draw: what it draws random numbers from; None if it draws none.
    default_dtype: torch's default dtype when it ran.
    differentiable: the slots among `reads` that required gradients, if autograd recorded the operation.
    inference: whether inference mode was on.
    deterministic: whether `torch.use_deterministic_algorithms` was on.
    """

    index: int
    overload: OpOverload
    args: tuple[Argument, ...]
    kwargs: Mapping[str, Argument]
    reads: tuple[int, ...]
    results: tuple[int, ...]
    writes: tuple[int, ...]
    draw: Draw | None
    default_dtype: torch.dtype
    differentiable: tuple[int, ...]
    inference: bool
    deterministic: bool
    place: Place

    def __str__(self) -> str:
        return f"{self.overload} at {self.place}"


@dataclass(frozen=True, slots=True)
class Outside:
    """A real tensor that the program took from outside, and its version when an operation read it.

    `version` is None for a tensor that nobody else holds, such as what `torch.tensor([1, 2])` made.
    """

    tensor: Tensor
    version: int | None
    place: Place


@dataclass(slots=True)
class Tape:
    """All that was recorded, in the order in which it ran. A recording appends to it; nothing else changes it."""

    operations: list[Operation] = field(default_factory=list)
    slots: list[Slot] = field(default_factory=list)
    outside: list[Outside] = field(default_factory=list)
    generators: list[torch.Generator] = field(default_factory=list)
    states: list[Tensor | Later] = field(default_factory=list)
    inputs: list[int] = field(default_factory=list)
    """The slots of the fake tensors that the recording was given: no operation makes them."""

    def storage_of(self, slot: int) -> int:
        """The storage that a slot is a part of."""
        return self.slots[slot].storage

    def storages_of(self, operation: Operation) -> list[int]:
        """The storages that an operation makes, reads or changes."""
        return [*map(self.storage_of, (*operation.results, *operation.reads)), *operation.writes]


def references(arguments: Sequence[Argument] | Mapping[str, Argument]) -> Iterator[SlotRef | OutsideRef]:
    """The references in arguments, those in lists included."""
    for value in arguments.values() if isinstance(arguments, Mapping) else arguments:
        if isinstance(value, (SlotRef, OutsideRef)):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from references(value)
