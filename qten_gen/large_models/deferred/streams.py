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
from typing import Protocol, TypeAlias
from weakref import WeakValueDictionary

import torch
from torch import Tensor

from .tape import After, Draw, Later, State, Tape

_MARKERS = itertools.count(int.from_bytes(os.urandom(7), "little"))
"""Seeds of markers, each used once. The start keeps apart processes that exchange states."""

_Key: TypeAlias = tuple[int, ...]
"""The identity of a generator's state: the seed, the position, and two words of the numbers."""


class States(Protocol):
    """Knows the state of a generator at a place of a tape, which may take draws to find out."""

    def state(self, start: After | State) -> Tensor: ...


@dataclass(slots=True)
class _Origin:
    """The known facts about a state: its place on the tape, and the real state that the draws up to it started from."""

    place: After | State
    base: Tensor


@dataclass(slots=True, weakref_slot=True)
class End:
    """The generator's state after the recording.

    `before` is the end of the recording that this one went on from. `states` is let go when the draws were carried out.
    """

    generator: torch.Generator
    place: After | State
    marker: Tensor
    states: States | None
    before: End | None
    found: Tensor | None = None

    def state(self) -> Tensor:
        """Where the draws lead. Of the recordings that follow each other, the first is carried out first."""
        waiting: list[End] = [self]
        while waiting[-1].before is not None and waiting[-1].before.found is None:
            waiting.append(waiting[-1].before)
        for end in reversed(waiting):
            if end.states is not None:
                end.found, end.states = end.states.state(end.place), None
        assert self.found is not None
        return self.found


_ENDS: WeakValueDictionary[_Key, End] = WeakValueDictionary()
"""The recordings that left generators at their markers, by marker."""

_LAST: dict[int, End] = {}
"""The last of each default generator, by its address: a recording may go on from one whose tensors are gone."""


@dataclass(slots=True)
class _Stream:
    """A generator that the recording meets, and the states of it that are known."""

    index: int
    generator: torch.Generator
    origins: dict[_Key, _Origin] = field(default_factory=dict)
    before: End | None = None
    """The end of an earlier recording that this one goes on from."""


class Streams:
    """Follows the generators of a recording, and says for each draw where it starts."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._streams: dict[int, _Stream] = {}
        self._ends: list[End] = []

    def draw(self, operation: int, generator: torch.Generator) -> Draw:
        """The draw of an operation; marks the generator as standing after it."""
        stream, origin = self._origin(generator)
        self._mark(stream, _Origin(After(operation), origin.base))
        return Draw(stream.index, origin.place)

    def put_back(self) -> None:
        """Put each generator back to where the program last set it."""
        for stream in self._streams.values():
            origin = stream.origins.get(key_of(stream.generator.get_state()))
            if origin is not None:
                stream.generator.set_state(origin.base)

    def move_on(self, states: States) -> None:
        """Leave each generator that was drawn from at the marker of its end."""
        for stream in self._streams.values():
            origin = stream.origins.get(key_of(stream.generator.get_state()))
            if origin is None:
                continue
            if isinstance(origin.place, State) and self._tape.states[origin.place.index] is origin.base:
                stream.generator.set_state(origin.base)
                continue
            marker = _marker(origin.base, self._fingerprint(stream.index, origin.base))
            stream.generator.set_state(marker)
            end = End(stream.generator, origin.place, marker, states, stream.before)
            _ENDS[key_of(marker)] = end
            self._ends.append(end)
            if _address(stream.generator) == _address(default_generator(stream.generator.device)):
                _LAST[_address(stream.generator)] = end

    def arrive(self) -> None:
        """Bring the generators to where the draws lead, now that they are carried out; those that were used since stay."""
        for end in self._ends:
            here = key_of(end.generator.get_state())
            if here == key_of(end.marker) or (end.before is not None and here == key_of(end.before.state())):
                end.generator.set_state(end.state())
            if _LAST.get(_address(end.generator)) is end:
                del _LAST[_address(end.generator)]
        self._ends.clear()

    def _origin(self, generator: torch.Generator) -> tuple[_Stream, _Origin]:
        """The stream of a generator, and the origin of its state, which the program has set if it is not known."""
        stream = self._streams.get(_address(generator))
        if stream is None:
            stream = self._streams[_address(generator)] = _Stream(len(self._tape.generators), generator)
            self._tape.generators.append(generator)
        state = generator.get_state()
        key = key_of(state)
        if key not in stream.origins:
            earlier = _ENDS.get(key)
            copied = next((other.origins[key] for other in self._streams.values() if key in other.origins), None)
            if copied is not None:
                # The program gave it the state of another generator.
                stream.origins[key] = copied
            elif earlier is not None and _address(earlier.generator) == _address(generator):
                stream.before = earlier
                stream.origins[key] = _Origin(self._new_state(Later(earlier)), state)
            else:
                stream.origins[key] = _Origin(self._new_state(state), state)
        return stream, stream.origins[key]

    def _new_state(self, state: Tensor | Later) -> State:
        self._tape.states.append(state)
        return State(len(self._tape.states) - 1)

    def _mark(self, stream: _Stream, origin: _Origin) -> None:
        """Bring a generator into a state that nothing else leads to, and that reports the seed of now."""
        marker = _marker(stream.generator.get_state(), next(_MARKERS))
        stream.generator.set_state(marker)
        stream.origins[key_of(marker)] = origin

    def _fingerprint(self, stream: int, base: Tensor) -> int:
        """A number for the draws of a stream and the state that they start from."""
        digest = hashlib.blake2b(bytes(base.tolist()), digest_size=7)
        for operation in self._tape.operations:
            if operation.draw is not None and operation.draw.stream == stream:
                sizes = [self._tape.slots[slot].size for slot in operation.results]
                digest.update(f"{operation.overload} {sizes} {operation.draw.start}".encode())
        return int.from_bytes(digest.digest(), "little")


def default_generator(device: torch.device) -> torch.Generator:
    """The generator that draws on a device use when they name none."""
    if device.type in ("cpu", "meta"):
        return torch.default_generator
    generators: tuple[torch.Generator, ...] = getattr(torch, device.type).default_generators
    return generators[device.index or 0]


def _address(generator: torch.Generator) -> int:
    """The address of the C++ object: Python may have several objects for it."""
    address: int = generator._cdata  # type: ignore[attr-defined] # torch does not list it
    return address


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
