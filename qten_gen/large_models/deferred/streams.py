"""Which random numbers a recorded program would draw: where each draw starts.

A recorded draw takes nothing from the generator. Instead it leaves a *marker* in the generator: the state of a seed that nobody
else has. So `torch.manual_seed` is understood, and states that a program saves and restores, as `torch.random.fork_rng` does: a
marker that is found again later says after which draw the program wants to go on, and any other state was set by the program.
The seed that the generator reports stays.

A recording ends with a marker too, one that only depends on the state at the start and on the draws. What is drawn next, outside,
is neither what the recorded program draws nor left to chance; and a recording that starts at this marker goes on where the one
before will have ended.
"""

from __future__ import annotations

import hashlib
import itertools
import os
from dataclasses import dataclass, field
from typing import TypeAlias
from weakref import WeakValueDictionary

import torch
from torch import Tensor

from .tape import Draw, Start, Tape, default_generator

_MARKERS = itertools.count(int.from_bytes(os.urandom(7), "little"))
"""Seeds of markers, each used once. The start keeps apart processes that exchange states."""

_Key: TypeAlias = tuple[int, ...]
"""The identity of a generator's state: the seed, the position, and two words of the numbers."""


@dataclass(slots=True)
class Given:
    """A state that the program set, or found."""

    state: Tensor

    def get(self) -> Tensor:
        return self.state


@dataclass(slots=True, weakref_slot=True)
class End:
    """The generator's state after a recording. `tape` is let go when the draws were carried out."""

    generator: torch.Generator
    place: Start
    marker: Tensor
    tape: Tape | None
    before: End | None
    """The end of the recording that this one went on from."""
    found: Tensor | None = None

    def get(self) -> Tensor:
        """Where the draws lead. Of the recordings that follow each other, the first is carried out first."""
        waiting: list[End] = [self]
        while waiting[-1].before is not None and waiting[-1].before.found is None:
            waiting.append(waiting[-1].before)
        for end in reversed(waiting):
            if end.tape is not None:
                end.found = end.tape.state_after(end.place) if isinstance(end.place, int) else end.place.get()
                end.tape = None
        assert self.found is not None
        return self.found


_ENDS: WeakValueDictionary[_Key, End] = WeakValueDictionary()
"""The recordings that left generators at their markers, by marker."""

_LAST: dict[int, End] = {}
"""The last of each default generator, by its address: a recording may go on from one whose tensors are gone."""


@dataclass(slots=True)
class _Stream:
    """A generator that the recording meets, and the states of it that are known."""

    generator: torch.Generator
    origins: dict[_Key, tuple[Start, Tensor]] = field(default_factory=dict)
    """Where on the tape a state is, and the real state that the draws up to it started from."""
    before: End | None = None
    """The end of an earlier recording that this one goes on from."""


class Streams:
    """Follows the generators of a recording, and says for each draw where it starts."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._streams: dict[int, _Stream] = {}
        self._ends: list[End] = []

    @property
    def given(self) -> list[Tensor]:
        """The states that the numbers of the recording start from."""
        starts = [start for stream in self._streams.values() for start, _ in stream.origins.values()]
        return [start.state for start in starts if isinstance(start, Given)]

    def draw(self, generator: torch.Generator) -> Draw:
        """The draw of the next operation; marks the generator as standing after it."""
        address = Draw(generator, 0).stream
        stream = self._streams.setdefault(address, _Stream(generator))
        state = generator.get_state()
        key = key_of(state)
        if key not in stream.origins:
            # The program may give it the state of another generator.
            known = [other.origins[key] for other in self._streams.values() if key in other.origins]
            earlier = _ENDS.get(key)
            if known:
                stream.origins[key] = known[0]
            elif earlier is not None and Draw(earlier.generator, 0).stream == address:
                stream.before = earlier
                stream.origins[key] = earlier, state
            else:
                stream.origins[key] = Given(state), state
        start, base = stream.origins[key]
        marker = _marker(state, next(_MARKERS))
        generator.set_state(marker)
        stream.origins[key_of(marker)] = len(self._tape.operations), base
        return Draw(generator, start)

    def put_back(self) -> None:
        """Put each generator back to where the program last set it."""
        for stream in self._streams.values():
            origin = stream.origins.get(key_of(stream.generator.get_state()))
            if origin is not None:
                stream.generator.set_state(origin[1])

    def move_on(self) -> None:
        """Leave each generator that was drawn from at the marker of its end."""
        for address, stream in self._streams.items():
            place, base = stream.origins.get(key_of(stream.generator.get_state()), (None, None))
            if place is None or base is None or isinstance(place, Given):
                continue
            marker = _marker(base, self._fingerprint(address, base))
            stream.generator.set_state(marker)
            end = End(stream.generator, place, marker, self._tape, stream.before)
            _ENDS[key_of(marker)] = end
            self._ends.append(end)
            if address == Draw(default_generator(stream.generator.device), 0).stream:
                _LAST[address] = end

    def arrive(self) -> None:
        """Bring the generators to where the draws lead, now that they are carried out; those that were used since stay."""
        for end in self._ends:
            here = key_of(end.generator.get_state())
            if here == key_of(end.marker) or (end.before is not None and here == key_of(end.before.get())):
                end.generator.set_state(end.get())
            address = Draw(end.generator, 0).stream
            if _LAST.get(address) is end:
                del _LAST[address]
        self._ends.clear()

    def _fingerprint(self, stream: int, base: Tensor) -> int:
        """A number for the draws of a stream and the state that they start from."""
        digest = hashlib.blake2b(bytes(base.tolist()), digest_size=7)
        for operation in self._tape.operations:
            if operation.draw is not None and operation.draw.stream == stream:
                start = operation.draw.start if isinstance(operation.draw.start, int) else "state"
                digest.update(f"{operation.func} {[slot.size for slot in operation.results]} {start}".encode())
        return int.from_bytes(digest.digest(), "little")


def key_of(state: Tensor) -> _Key:
    """The identity of a state."""
    return tuple(state[:40].view(torch.int64).tolist())


def _marker(state: Tensor, number: int) -> Tensor:
    """The state that stands for a number and reports the seed of another state.

    A state of the CPU is its seed, its position and its words; elsewhere it is a seed and an offset, a multiple of four.
    """
    on_cpu = len(state) > 16
    marker = torch.Generator().manual_seed(number).get_state() if on_cpu else state.clone()
    if on_cpu:
        marker[:8] = state[:8]
    else:
        marker[8:] = torch.tensor([4 * number], device="cpu").view(torch.uint8)
    return marker
