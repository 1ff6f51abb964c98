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
from dataclasses import dataclass
from typing import TypeAlias
from weakref import WeakValueDictionary

import torch
from torch import Tensor

from .tape import Draw, Later, Start, Tape, address_of, default_generator

_MARKERS = itertools.count(int.from_bytes(os.urandom(7), "little"))
"""Seeds of markers, each used once. The start keeps apart processes that exchange states."""

_Key: TypeAlias = tuple[int, ...]
"""The identity of a generator's state: the seed, the position, and two words of the numbers."""


@dataclass(slots=True, weakref_slot=True)
class End:
    """The generator's state after a recording. `tape` is let go when the draws were carried out."""

    generator: torch.Generator
    place: int | Later
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


class Streams:
    """Follows the generators of a recording, and says for each draw where it starts."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._generators: dict[int, torch.Generator] = {}
        """The generators that the recording meets, by address."""
        self._origins: dict[_Key, tuple[Start, Tensor]] = {}
        """Where on the tape a state is, and the real state that the draws up to it started from."""
        self._last: dict[int, int] = {}
        """The last draw from each generator."""
        self._ends: list[End] = []

    def draw(self, generator: torch.Generator, count: int) -> Draw:
        """The draw of the next operation; marks the generator as standing after it."""
        self._generators.setdefault(address_of(generator), generator)
        state = generator.get_state()
        key = key_of(state)
        if key not in self._origins:
            self._origins[key] = _ENDS.get(key) or state, state
        start, base = self._origins[key]
        if isinstance(start, int) and self._last.get(address_of(generator)) != start:
            self._tape.branches.add(start)
        self._last[address_of(generator)] = len(self._tape.operations)
        marker = _marker(state, next(_MARKERS))
        generator.set_state(marker)
        self._origins[key_of(marker)] = len(self._tape.operations), base
        return Draw(generator, start, count)

    def put_back(self) -> None:
        """Put each generator back to where the program last set it."""
        for generator in self._generators.values():
            origin = self._origins.get(key_of(generator.get_state()))
            if origin is not None:
                generator.set_state(origin[1])

    def move_on(self) -> None:
        """Leave each generator that was drawn from at the marker of its end."""
        for address, generator in self._generators.items():
            place, base = self._origins.get(key_of(generator.get_state()), (None, None))
            if place is None or base is None or isinstance(place, Tensor):
                continue
            marker = _marker(base, self._fingerprint(address, base))
            generator.set_state(marker)
            end = End(generator, place, marker, self._tape, _ENDS.get(key_of(base)))
            _ENDS[key_of(marker)] = end
            self._ends.append(end)
            if address == address_of(default_generator(generator.device)):
                _LAST[address] = end

    def arrive(self) -> None:
        """Bring the generators to where the draws lead, now that they are carried out; one that was used since stays as it is."""
        for end in self._ends:
            if key_of(end.generator.get_state()) == key_of(end.marker):
                end.generator.set_state(end.get())
            if _LAST.get(address_of(end.generator)) is end:
                del _LAST[address_of(end.generator)]
        self._ends.clear()

    def _fingerprint(self, address: int, base: Tensor) -> int:
        """A number for the draws of a generator and the state that they start from."""
        digest = hashlib.blake2b(bytes(base.tolist()), digest_size=7)
        for operation in self._tape.operations:
            if operation.draw is not None and operation.draw.stream == address:
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
