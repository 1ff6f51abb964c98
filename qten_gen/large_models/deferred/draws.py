"""The random numbers that the recorded program would have drawn, for the draws that are wanted."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from threading import Lock, RLock

import torch
from torch import Tensor
from torch._ops import OpOverload

from .overloads import with_generator
from .replay import Plan, carry_out, operations_reaching
from .streams import default_generator
from .tape import After, Draw, Later, Operation, Slot, SlotRef, State, Tape

_KEPT_EVERY = 1 << 20
"""After how many numbers the state of a generator is kept, so that a later replay need not draw them again."""

_aten = torch.ops.aten
_COUNTED = {
    _aten.bernoulli_.float,
    _aten.cauchy_.default,
    _aten.exponential_.default,
    _aten.geometric_.default,
    _aten.log_normal_.default,
    _aten.normal_.default,
    _aten.rand.default,
    _aten.rand.generator,
    _aten.randint.default,
    _aten.randint.generator,
    _aten.randint.low,
    _aten.randint.low_generator,
    _aten.randn.default,
    _aten.randn.generator,
    _aten.randperm.default,
    _aten.randperm.generator,
    _aten.random_.default,
    getattr(_aten.random_, "from"),
    _aten.random_.to,
    _aten.uniform_.default,
}
"""Operators that can run on any memory of the same shape and take the same numbers: what they take depends on no values."""

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
        self._last_passed: int | None = None
        self._memory: Tensor | None = None
        """The tensor that draws fill when they are passed over; let go after the last of a plan."""

    def plan(self, needed: Sequence[Operation], ends: Sequence[int] = ()) -> Plan:
        """The needed operations, and the draws before theirs; `ends` are operations that the draws have to get to."""
        also: set[int] = set()
        while True:
            operations = operations_reaching(self._tape, (), also={*also, *(operation.index for operation in needed)})
            passed = self._draws_before(operations, ends)
            uncounted = {index for index in passed if self._tape.operations[index].overload not in _COUNTED}
            if not uncounted:
                break
            also |= uncounted
        ordered = sorted({*passed, *(operation.index for operation in operations)})
        plan = Plan([self._tape.operations[index] for index in ordered], passed)
        self._to_keep = self._branching(plan) | set(ends)
        self._last_passed, self._memory = max(passed, default=None), None
        return plan

    def state(self, start: After | State) -> Tensor:
        """The state of a generator at a place of the tape."""
        if isinstance(start, State):
            return self._given(start)
        with self.lock:
            if start.operation not in self._reached:
                carry_out(self._tape, self.plan([], [start.operation]), self, (), {})
            return self._reached[start.operation]

    def draw(self, operation: Operation, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        assert operation.draw is not None
        generator = self._at(operation.draw)
        found = run_with(generator, operation.overload, args, kwargs)
        self._standing[operation.draw.stream] = operation.index
        self._since_kept += sum(self._size(slot) for slot in operation.results)
        if operation.index in self._to_keep or self._since_kept > _KEPT_EVERY:
            self._reached[operation.index] = generator.get_state()
            self._since_kept = 0
        return found

    def pass_over(self, operation: Operation) -> None:
        kwargs = dict(operation.kwargs)
        args = operation.args
        if args and isinstance(args[0], SlotRef):
            args = (self._scratch(self._tape.slots[operation.reads[0]]), *args[1:])
        with torch.no_grad():
            self.draw(operation, args, kwargs)
        if operation.index == self._last_passed:
            self._memory = None

    def _scratch(self, slot: Slot) -> Tensor:
        """A tensor like that of a slot, for numbers that nobody wants.

        All share one memory. If each had its own, the states that are kept would lie between, and the gaps could not be used.
        """
        needed = (slot.end - slot.offset) * slot.dtype.itemsize
        if self._memory is None or self._memory.nbytes < needed or self._memory.device != slot.device:
            self._memory = None
            self._memory = torch.empty(needed, dtype=torch.uint8, device=slot.device)
        return self._memory[:needed].view(slot.dtype).as_strided(slot.size, slot.stride)

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
            reached = self._reached[draw.start.operation] if isinstance(draw.start, After) else self._given(draw.start)
            generator.set_state(reached)
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

    def _branching(self, plan: Plan) -> set[int]:
        """The operations whose states have to be kept, because a draw that is not the next one starts there."""
        found: set[int] = set()
        standing: dict[int, int] = {}
        for operation in plan.operations:
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
