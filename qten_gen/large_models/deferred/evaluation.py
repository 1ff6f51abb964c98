"""The values of a recorded program, with the random numbers that it would have drawn, for the draws that are wanted.

While it is still being recorded, `.item()` and `numpy()` in a constructor are answered.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Collection, Mapping, Sequence
from threading import Lock, RLock

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch.utils._python_dispatch import _disable_current_modes

from .overloads import with_generator
from .replay import carry_out, operations_reaching
from .streams import default_generator
from .tape import After, Draw, Later, Operation, State, Tape

_KEPT_EVERY = 1 << 20
"""After how many numbers the state of a generator is kept, so that a later replay need not draw them again."""

_DEFAULT_GENERATOR = Lock()


class RecordedNumbers:
    """The numbers that each draw of a tape would have got when it was recorded, whichever draws are carried out, in any order.

    The generators that the program used are not touched. States that were reached are kept, so that nothing is drawn twice when
    one part of a tape is replayed after the other.
    """

    def __init__(self, tape: Tape) -> None:
        self.lock = RLock()
        """Held from a plan to its end. A recording of another thread may go on where this one ends, and ask for the state."""
        self._tape = tape
        self._generators: dict[int, torch.Generator] = {}
        self._standing: dict[int, int | None] = {}
        """For each stream, the operation that its generator stands after; None if it stands elsewhere."""
        self._reached: dict[int, Tensor] = {}
        """The states after operations."""
        self._to_keep: set[int] = set()
        self._since_kept = 0
        self._most_kept = 1
        """How many states the operations of the plan leave behind, at most."""
        self._rows: list[Tensor] = []
        """Memory for more states."""

    def plan(self, needed: Sequence[Operation], ends: Sequence[int] = ()) -> list[Operation]:
        """The needed operations, and the draws before theirs; `ends` are operations that the draws have to get to."""
        also = {operation.index for operation in needed}
        while True:
            operations = operations_reaching(self._tape, (), also=also)
            before = self._draws_before(operations, ends)
            if not before:
                break
            also |= before
        self._to_keep = self._branching(operations) | set(ends)
        drawn = sum(self._size(slot) for operation in operations if operation.draw for slot in operation.results)
        self._most_kept = drawn // _KEPT_EVERY + len(self._to_keep) + 1
        return operations

    def state(self, start: After | State) -> Tensor:
        """The state of a generator at a place of the tape."""
        if isinstance(start, State):
            return self._given(start)
        with self.lock:
            if start.operation not in self._reached:
                carry_out(self._tape, self.plan([], [start.operation]), self, (), {})
            # A copy, because torch reads the state of a generator from the start of its memory.
            return self._reached[start.operation].clone()

    def draw(self, operation: Operation, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        assert operation.draw is not None
        generator = self._at(operation.draw)
        found = run_with(generator, operation.overload, args, kwargs)
        self._standing[operation.draw.stream] = operation.index
        self._since_kept += sum(self._size(slot) for slot in operation.results)
        if operation.index in self._to_keep or self._since_kept > _KEPT_EVERY:
            self._reached[operation.index] = self._stored(generator.get_state())
            self._since_kept = 0
        return found

    def _stored(self, state: Tensor) -> Tensor:
        """A copy of a state beside others. If each had its own memory, they would lie between the tensors that are drawn and let
        go, and the gaps could not be used.
        """
        if not self._rows or len(self._rows[-1]) != len(state):
            self._rows = list(torch.empty(self._most_kept, len(state), dtype=torch.uint8, device="cpu").unbind())
        return self._rows.pop().copy_(state)

    def _given(self, start: State) -> Tensor:
        """A state that the program set, or that another tape ends with."""
        state = self._tape.states[start.index]
        if isinstance(state, Later):
            state = self._tape.states[start.index] = state.ending.state()
        return state

    def _size(self, slot: int) -> int:
        return math.prod(self._tape.slots[slot].size)

    def _at(self, draw: Draw) -> torch.Generator:
        """The generator of a draw, where the draw starts."""
        recorded = self._tape.generators[draw.stream]
        generator = self._generators.get(draw.stream)
        if generator is None:
            generator = self._generators[draw.stream] = torch.Generator(recorded.device)
        stands = self._standing.get(draw.stream)
        if not isinstance(draw.start, After) or draw.start.operation != stands:
            generator.set_state(self.state(draw.start))
        # Until the draw is done: an exception may leave the generator anywhere.
        self._standing[draw.stream] = None
        return generator

    def _draws_before(self, operations: Sequence[Operation], ends: Sequence[int]) -> set[int]:
        """The draws that lead to those of operations, from the last states that are known."""
        running = {operation.index for operation in operations}
        leading: set[int] = set()
        open_ends = [operation.index for operation in operations if operation.draw is not None]
        for end in ends:
            if end not in running and end not in self._reached:
                leading.add(end)
                open_ends.append(end)
        while open_ends:
            draw = self._tape.operations[open_ends.pop()].draw
            before = draw.start.operation if draw is not None and isinstance(draw.start, After) else None
            if before is not None and before not in self._reached and before not in running and before not in leading:
                leading.add(before)
                open_ends.append(before)
        return leading

    def _branching(self, operations: Sequence[Operation]) -> set[int]:
        """The operations whose states have to be kept, because a draw that is not the next one starts there."""
        found: set[int] = set()
        standing: dict[int, int] = {}
        for operation in operations:
            if operation.draw is not None:
                start = operation.draw.start
                if isinstance(start, After) and standing.get(operation.draw.stream) != start.operation:
                    found.add(start.operation)
                standing[operation.draw.stream] = operation.index
        return found | set(standing.values())


def run_with(
    generator: torch.Generator, func: OpOverload, args: Sequence[object], kwargs: Mapping[str, object]
) -> object:
    """Run an operation that draws from a generator, whichever the operation would use."""
    overload = with_generator(func)
    if overload is not None:
        found: object = overload(*args, **{**kwargs, "generator": generator})
        return found
    default = default_generator(generator.device)
    with _DEFAULT_GENERATOR:
        state = default.get_state()
        try:
            default.set_state(generator.get_state())
            found = func(*args, **kwargs)
            generator.set_state(default.get_state())
        finally:
            default.set_state(state)
    return found


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
