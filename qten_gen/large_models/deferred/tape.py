"""A tape: the operations of a recorded program, and running the ones that wanted tensors come from."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from threading import Lock, RLock
from typing import Protocol, TypeAlias

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch.utils._python_dispatch import _disable_current_modes

from ..fake.arguments import tensors


class DeferredError(RuntimeError):
    """Something was asked of a deferred tensor that it cannot answer, or that could not be recorded."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A tensor of the recorded program. In the arguments of an operation it stands for the tensor."""

    index: int
    storage: int
    """The memory that it is a part of."""
    size: tuple[int, ...]


@dataclass(slots=True)
class Outside:
    """A real tensor that the program took from outside, and its version when an operation read it.

    `version` is None for a tensor that nobody else holds, such as what `torch.tensor([1, 2])` made.
    """

    tensor: Tensor
    version: int | None

    def value(self, operation: Operation) -> Tensor:
        """The tensor, unless it has changed."""
        if self.version is not None and self.tensor._version != self.version:
            raise DeferredError(
                f"{operation.place}: a tensor from outside, which {operation.func} read there, was changed in place since; "
                "materialize before it changes, or let the program read a copy"
            )
        return self.tensor


class Later(Protocol):
    """The state of a generator after an earlier recording, which may take draws to find out."""

    def get(self) -> Tensor: ...


Start: TypeAlias = "int | Tensor | Later"
"""Where the numbers of a draw start: after the draws of an earlier operation, by its index, or at a state."""


@dataclass(frozen=True, slots=True)
class Draw:
    """That an operation draws random numbers, and from where."""

    generator: torch.Generator
    start: Start
    count: int
    """How many numbers it draws."""

    @property
    def stream(self) -> int:
        return address_of(self.generator)


def address_of(generator: torch.Generator) -> int:
    """The address of the C++ object of a generator: Python may have several objects for it."""
    return generator._cdata  # type: ignore[attr-defined, no-any-return] # torch does not list it


@dataclass(frozen=True, slots=True)
class Operation:
    """One call of an ATen operator, with the state of the thread that it runs under."""

    index: int
    func: OpOverload
    args: Sequence[object]
    """As the operator takes them, with Slot and Outside in place of tensors."""
    kwargs: Mapping[str, object]
    reads: Sequence[Slot]
    results: Sequence[Slot]
    """The tensors that it returns, in order; one among `reads` is changed and returned."""
    writes: Collection[int]
    """The storages that it changes."""
    draw: Draw | None
    differentiable: Sequence[Slot]
    """The slots among `reads` that required gradients, if autograd recorded the operation."""
    made_as: type[Tensor] | None
    """The class of parameter that its result is an instance of."""
    place: str
    """The file and line of the user's code that ran it."""
    dtype: torch.dtype = field(default_factory=torch.get_default_dtype)
    inference: bool = field(default_factory=torch.is_inference_mode_enabled)
    deterministic: bool = field(default_factory=torch.are_deterministic_algorithms_enabled)

    @property
    def storages(self) -> set[int]:
        """The memory that it makes, reads or changes."""
        return {slot.storage for slot in (*self.results, *self.reads)}.union(self.writes)


_MANY = 1 << 18
"""After draws of more numbers the state of a generator is kept, so that a later evaluation need not draw them again."""


class Tape:
    """All operations that were recorded, in order, and what evaluating them has found out about the random numbers."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.lock = RLock()
        """Held during an evaluation. A recording of another thread may go on where this one ends, and ask for the state."""
        self._born: list[set[int]] = []
        """The storages that each operation makes: nothing before it concerns them."""
        self._storages: set[int] = set()
        self._generators: dict[int, tuple[torch.Generator, int | None]] = {}
        """A generator for each stream, and the operation that it stands after; None where it stands elsewhere."""
        self._reached: dict[int, Tensor] = {}
        """States of generators, by the operation that they come after."""
        self.branches: set[int] = set()
        """The draws after which another draw than the next one starts."""

    def append(self, operation: Operation) -> None:
        """Add an operation at the end."""
        self.operations.append(operation)
        self._born.append({slot.storage for slot in operation.results} - self._storages)
        self._storages |= self._born[-1]

    def values(self, slots: Sequence[Slot]) -> list[Tensor]:
        """The tensors of slots as the program has them now. Those of one storage share it.

        Raises:
            DeferredError: a tensor from outside, which an operation read, was changed in place since.
            Exception: whatever an operation raises; a note says which one, and where it was recorded.
        """
        found = self._evaluate(slots, ())
        return [found[slot.index] for slot in slots]

    def state_after(self, index: int) -> Tensor:
        """The state of a generator after the draws of an operation."""
        if index not in self._reached:
            self._evaluate((), (index,))
        return self._reached[index]

    def needed(self, slots: Iterable[Slot], draws: Iterable[int]) -> list[Operation]:
        """The operations that slots and draws come from, in order: they make a slot, write into memory, or draw before."""
        wanted, storages, drawing = set[int](), set[int](), set(draws)
        found: list[Operation] = []

        def need(slots: Iterable[Slot]) -> None:
            for slot in slots:
                wanted.add(slot.index)
                storages.add(slot.storage)

        need(slots)
        for operation in reversed(self.operations):
            if not storages and not drawing:
                break
            makes = any(slot.index in wanted for slot in operation.results)
            if not makes and storages.isdisjoint(operation.writes) and operation.index not in drawing:
                continue
            found.append(operation)
            drawing.discard(operation.index)
            need(operation.reads)
            storages -= self._born[operation.index]
            start = operation.draw.start if operation.draw else None
            if isinstance(start, int) and start not in self._reached:
                drawing.add(start)
        return found[::-1]

    def _evaluate(self, wanted: Sequence[Slot], ends: Sequence[int]) -> dict[int, Tensor]:
        """The tensors of slots, by index; and states of generators, where draws are given by `ends`."""
        kept = {slot.index for slot in wanted}
        values: dict[int, Tensor] = {}
        # Without modes, overrides and autocast of the caller: what was recorded was below them.
        with (
            self.lock,
            torch.inference_mode(False),
            torch.no_grad(),
            _disable_current_modes(),
            torch._C.DisableTorchFunction(),
            torch._C._DisableAutocast(),
        ):
            for generator, stands in self._generators.values():
                if stands is not None and stands not in self._reached:
                    self._reached[stands] = generator.get_state()
            operations = _tensor_by_tensor(self.needed(wanted, ends))
            last = {slot.index: each.index for each in operations for slot in (*each.reads, *each.results)}
            for operation in operations:
                try:
                    self._run(operation, values)
                except Exception as error:
                    error.add_note(f"while {operation.func} was replayed, which was recorded at {operation.place}")
                    raise
                draw, index = operation.draw, operation.index
                if draw and (draw.count > _MANY or index in self.branches or index in ends):
                    self._reached[index] = self._generators[draw.stream][0].get_state()
                for slot in (*operation.reads, *operation.results):
                    if last[slot.index] == index and slot.index not in kept:
                        values.pop(slot.index, None)
        return values

    def _run(self, operation: Operation, values: dict[int, Tensor]) -> None:
        """Run one operation, and enter what it returns."""
        args = [_filled(value, operation, values) for value in operation.args]
        kwargs = {name: _filled(value, operation, values) for name, value in operation.kwargs.items()}
        for slot in operation.differentiable:
            if not values[slot.index].requires_grad:
                values[slot.index].requires_grad_()
        dtype, deterministic = torch.get_default_dtype(), torch.get_deterministic_debug_mode()
        if operation.dtype != dtype:
            torch.set_default_dtype(operation.dtype)
        if operation.deterministic != bool(deterministic):
            torch.use_deterministic_algorithms(operation.deterministic)
        try:
            if operation.inference or operation.differentiable:
                with torch.inference_mode(operation.inference), torch.set_grad_enabled(bool(operation.differentiable)):
                    found = self._drawn(operation, args, kwargs)
            else:
                found = self._drawn(operation, args, kwargs)
        finally:
            if operation.dtype != dtype:
                torch.set_default_dtype(dtype)
            if operation.deterministic != bool(deterministic):
                torch.set_deterministic_debug_mode(deterministic)
        for slot, tensor in zip(operation.results, tensors([found]), strict=True):
            made = operation.made_as
            values[slot.index] = tensor if made is None else Tensor._make_subclass(made, tensor)

    def _drawn(self, operation: Operation, args: Sequence[object], kwargs: Mapping[str, object]) -> object:
        """Call an operator, with the random numbers that it would have got. The program's generators are not touched."""
        draw = operation.draw
        if draw is None:
            return operation.func(*args, **kwargs)
        generator, stands = self._generators.get(draw.stream) or (torch.Generator(draw.generator.device), None)
        if not isinstance(draw.start, int):
            generator.set_state(draw.start if isinstance(draw.start, Tensor) else draw.start.get())
        elif draw.start != stands:
            generator.set_state(self._reached[draw.start])
        self._generators[draw.stream] = generator, None  # an exception may leave it anywhere
        overload = _with_generator(operation.func)
        if overload is not None:
            found: object = overload(*args, **{**kwargs, "generator": generator})
        else:
            default = default_generator(generator.device)
            with _DEFAULT_GENERATOR:
                state = default.get_state()
                try:
                    default.set_state(generator.get_state())
                    found = operation.func(*args, **kwargs)
                    generator.set_state(default.get_state())
                finally:
                    default.set_state(state)
        self._generators[draw.stream] = generator, operation.index
        return found


_DEFAULT_GENERATOR = Lock()


def default_generator(device: torch.device) -> torch.Generator:
    """The generator that draws on a device use when they name none."""
    if device.type in ("cpu", "meta"):
        return torch.default_generator
    generators: tuple[torch.Generator, ...] = getattr(torch, device.type).default_generators
    return generators[device.index or 0]


@cache
def _with_generator(func: OpOverload) -> OpOverload | None:
    """The overload that takes the same arguments and a generator; the operator itself if it does; None if there is none."""
    names = [argument.name for argument in func._schema.arguments]
    if "generator" in names:
        return func
    for name in func.overloadpacket.overloads():
        overload: OpOverload = getattr(func.overloadpacket, name)
        found = [argument.name for argument in overload._schema.arguments]
        if "generator" in found and [name for name in found if name != "generator"] == names:
            return overload
    return None


def _tensor_by_tensor(operations: list[Operation]) -> list[Operation]:
    """The same operations, each as soon as it can run: so that `model.half()` makes one tensor half after the other.

    Draws stay in order, and so does what shares memory, directly or through others.
    """
    roots: dict[int, int] = {}

    def root(storage: int) -> int:
        while (above := roots.get(storage, storage)) != storage:
            roots[storage] = roots.get(above, above)
            storage = above
        return storage

    for operation in operations:
        first, *others = operation.storages or (-1,)
        for other in others:
            roots[root(other)] = root(first)
    drawn: dict[int, int] = {}
    after: dict[int, int] = {}
    for operation in operations:
        of = root(next(iter(operation.storages), -1))
        if operation.draw is not None or of not in drawn:
            drawn[of] = operation.index
        after[operation.index] = drawn[of]
    return sorted(operations, key=lambda operation: (after[operation.index], operation.index))


def _filled(value: object, operation: Operation, values: Mapping[int, Tensor]) -> object:
    """An argument with tensors in place of slots."""
    if isinstance(value, Slot):
        return values[value.index]
    if isinstance(value, Outside):
        return value.value(operation)
    if isinstance(value, (list, tuple)):
        return [_filled(part, operation, values) for part in value]
    return value
