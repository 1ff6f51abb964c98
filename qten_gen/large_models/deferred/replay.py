"""Replay: running the operations of a tape that wanted tensors are made by."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from typing import Protocol

import torch
from torch import Tensor
from torch.utils._python_dispatch import _disable_current_modes

from ..fake.tensor_arguments import tensors
from .errors import changed_outside, not_given
from .tape import Argument, Operation, OutsideRef, SlotRef, Tape


class Groups:
    """A union-find over numbers, each of which is a set of its own at first.

    >>> groups = Groups()
    >>> groups.join(1, 2)
    >>> groups.root(1) == groups.root(2), groups.root(3)
    (True, 3)
    """

    def __init__(self) -> None:
        self._parents: dict[int, int] = {}

    def root(self, number: int) -> int:
        """The number that stands for the set of another."""
        while (above := self._parents.get(number, number)) != number:
            self._parents[number] = self._parents.get(above, above)
            number = above
        return number

    def join(self, one: int, other: int) -> None:
        """Make one set of the sets of two numbers."""
        self._parents[self.root(other)] = self.root(one)


def joined(sets: Iterable[Sequence[int]]) -> Groups:
    """The groups of numbers that some set has together."""
    groups = Groups()
    for numbers in sets:
        for other in numbers[1:]:
            groups.join(numbers[0], other)
    return groups


class Numbers(Protocol):
    """Where the random numbers of a replay come from."""

    def draw(self, operation: Operation, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        """Run an operation that draws random numbers, with tensors in place of references; what it returns."""
        ...


def carry_out(
    tape: Tape, operations: Sequence[Operation], numbers: Numbers, wanted: Collection[int], given: Mapping[int, Tensor]
) -> dict[int, Tensor]:
    """The tensors of the wanted slots, made by operations that reach them.

    Args:
        tape: What was recorded.
        operations: Those that are run, in the order of the tape.
        numbers: Where random numbers come from.
        wanted: Slots of the tape.
        given: The tensors of the slots that no operation makes (`Tape.inputs`), and of others that need not be made anew.
            Operations change them as the program changed its own.

    Tensors of one storage share it again. They require no gradient, unless autograd recorded an operation on them.

    Raises:
        DeferredError: A tensor from outside, which an operation read, was changed in place since.
        Exception: Whatever an operation raises; a note says which one, and where it was recorded.
    """
    values = dict(given)
    operations = _tensor_by_tensor(tape, operations)
    last = _last_uses(operations, wanted)
    with _plain_surroundings(tape, operations):
        for operation in operations:
            try:
                _run(tape, operation, values, numbers)
            except Exception as error:
                error.add_note(f"while {operation.overload} was replayed, which was recorded at {operation.place}")
                raise
            for slot in last.get(operation.index, ()):
                values.pop(slot, None)
    return {slot: values[slot] for slot in wanted}


def operations_reaching(tape: Tape, wanted: Iterable[int], *, also: Collection[int] = ()) -> list[Operation]:
    """The operations that the values of wanted slots come from, in order.

    `also` are operations to run in any case, by index, with what they need.
    """
    slots = set(wanted)
    storages = {tape.storage_of(slot) for slot in wanted}
    found = []
    for operation in reversed(tape.operations):
        if (
            operation.index in also
            or not slots.isdisjoint(operation.results)
            or not storages.isdisjoint(operation.writes)
        ):
            found.append(operation)
            slots.update(operation.reads)
            storages.update(tape.storage_of(slot) for slot in operation.reads)
    found.reverse()
    return found


def _tensor_by_tensor(tape: Tape, operations: Sequence[Operation]) -> list[Operation]:
    """The same operations, each as soon as it can run: so that `model.half()` makes one tensor half after the other.

    Draws stay in order, and so does what shares memory, directly or through others.
    """
    groups = joined(map(tape.storages_of, operations))
    drawn: dict[int, int] = {}
    after: dict[int, int] = {}
    for operation in operations:
        root = groups.root((tape.storages_of(operation) or [-1])[0])
        if operation.draw is not None or root not in drawn:
            drawn[root] = operation.index
        after[operation.index] = drawn[root]
    return sorted(operations, key=lambda operation: (after[operation.index], operation.index))


def _last_uses(schedule: Sequence[Operation], wanted: Collection[int]) -> dict[int, list[int]]:
    """For each operation, by index, the slots that nobody needs after it."""
    last: dict[int, int] = {}
    for operation in schedule:
        for slot in (*operation.reads, *operation.results):
            last[slot] = operation.index
    released: dict[int, list[int]] = {}
    for slot, index in last.items():
        if slot not in wanted:
            released.setdefault(index, []).append(slot)
    return released


def _run(tape: Tape, operation: Operation, values: dict[int, Tensor], numbers: Numbers) -> None:
    """Run one operation, and enter what it returns."""
    args = tuple(_filled(tape, operation, value, values) for value in operation.args)
    kwargs = {name: _filled(tape, operation, value, values) for name, value in operation.kwargs.items()}
    for slot in operation.differentiable:
        if not values[slot].requires_grad:
            values[slot].requires_grad_(True)
    with _State(operation):
        draws = operation.draw is not None
        found = numbers.draw(operation, args, kwargs) if draws else operation.overload(*args, **kwargs)
    for slot, tensor in zip(operation.results, tensors([found]), strict=True):
        made_as = tape.slots[slot].made_as
        if made_as is not None and slot not in operation.reads:
            tensor = torch.Tensor._make_subclass(made_as, tensor)
        values[slot] = tensor


def _filled(tape: Tape, operation: Operation, value: Argument, values: Mapping[int, Tensor]) -> object:
    """An argument with tensors in place of references."""
    if isinstance(value, SlotRef):
        if value.slot not in values:
            raise not_given(operation, value.slot)
        return values[value.slot]
    if isinstance(value, OutsideRef):
        outside = tape.outside[value.index]
        if outside.version is not None and outside.tensor._version != outside.version:
            raise changed_outside(operation, outside.place)
        return outside.tensor
    if isinstance(value, (list, tuple)):
        return type(value)(_filled(tape, operation, part, values) for part in value)
    return value


class _State:
    """The state of the thread that an operation was recorded under, as far as it matters below autograd."""

    __slots__ = ("_default_dtype", "_deterministic", "_grad", "_inference", "_operation")

    def __init__(self, operation: Operation) -> None:
        self._operation = operation

    def __enter__(self) -> None:
        dtype = torch.get_default_dtype()
        self._default_dtype = dtype
        if self._operation.default_dtype != dtype:
            torch.set_default_dtype(self._operation.default_dtype)
        self._deterministic = torch.get_deterministic_debug_mode()
        if self._operation.deterministic != bool(self._deterministic):
            torch.use_deterministic_algorithms(self._operation.deterministic)
        self._inference = torch.inference_mode(self._operation.inference)
        self._inference.__enter__()
        self._grad = torch.is_grad_enabled()
        torch._C._set_grad_enabled(bool(self._operation.differentiable))

    def __exit__(self, *error: object) -> None:
        torch._C._set_grad_enabled(self._grad)
        self._inference.__exit__(*error)
        if self._operation.deterministic != bool(self._deterministic):
            torch.set_deterministic_debug_mode(self._deterministic)
        if self._operation.default_dtype != self._default_dtype:
            torch.set_default_dtype(self._default_dtype)


def _plain_surroundings(tape: Tape, schedule: Sequence[Operation]) -> ExitStack:
    """Without modes, overrides and autocast of the caller: what was recorded was below them."""
    stack = ExitStack()
    stack.enter_context(_disable_current_modes())
    stack.enter_context(torch._C.DisableTorchFunction())
    for kind in {tape.slots[slot].device.type for operation in schedule for slot in operation.results} - {"meta"}:
        if torch.is_autocast_enabled(kind):
            stack.enter_context(torch.autocast(kind, enabled=False))
    return stack
