"""Which random numbers a recorded program would draw: where each draw starts.

A recorded draw takes nothing from the generator. So that `torch.manual_seed` and states that a program saves and restores (as
`torch.random.fork_rng` does) are understood, each recorded draw leaves a *marker* in the generator: the state of a seed that nobody
else has. A marker that is found again later says after which draw the program wants to go on; any other state was set by the
program. The seed that the generator reports stays. When the recording ends, the generators are put back to where they were.
"""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass

import torch
from torch import Tensor

from .tape import After, Draw, State, Tape

_MARKERS = itertools.count(int.from_bytes(os.urandom(7), "little"))
"""Seeds of markers, each used once. The start keeps apart processes that exchange states."""

@dataclass(slots=True)
class _Stream:
    """A generator that the recording meets. `origins` tells for each known state, by its key, where on the tape it is."""

    index: int
    generator: torch.Generator
    origins: dict[tuple[int, ...], After | State]
    bases: dict[tuple[int, ...], State]
    """For each known state, the state of the program that the draws before it started from."""


class Streams:
    """Follows the generators of a recording, and says for each draw where it starts."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._streams: dict[int, _Stream] = {}

    def draw(self, operation: int, generator: torch.Generator) -> Draw:
        """What an operation draws from; marks the generator as standing after it."""
        stream = self._stream(generator)
        here = _key(generator)
        if here not in stream.origins:
            self._learn(stream, here, generator.get_state())
        start, base = stream.origins[here], stream.bases[here]
        _mark(generator)
        marked = _key(generator)
        stream.origins[marked], stream.bases[marked] = After(operation), base
        return Draw(stream.index, start)

    def position(self, generator: torch.Generator) -> tuple[int, After | State]:
        """The stream of a generator, and where it stands on the tape."""
        stream = self._stream(generator)
        here = _key(generator)
        if here not in stream.origins:
            self._learn(stream, here, generator.get_state())
        return stream.index, stream.origins[here]

    def restart(self, generator: torch.Generator, state: Tensor) -> None:
        """Go on from a state that is known by its numbers, because a real draw led there."""
        stream = self._stream(generator)
        base = stream.bases[_key(generator)]
        self._tape.states.append(state)
        _mark(generator)
        marked = _key(generator)
        stream.origins[marked], stream.bases[marked] = State(len(self._tape.states) - 1), base

    def close(self) -> list[tuple[torch.Generator, After | State]]:
        """Put each generator back to where the program last set it, and say where its draws would have led."""
        ends = []
        for stream in self._streams.values():
            here = _key(stream.generator)
            if here in stream.origins:
                ends.append((stream.generator, stream.origins[here]))
                stream.generator.set_state(self._tape.states[stream.bases[here].index])
        return ends

    def _stream(self, generator: torch.Generator) -> _Stream:
        found = self._streams.get(generator._cdata)
        if found is None:
            found = self._streams[generator._cdata] = _Stream(len(self._tape.generators), generator, {}, {})
            self._tape.generators.append(generator)
        return found

    def _learn(self, stream: _Stream, key: tuple[int, ...], state: Tensor) -> None:
        """Take a state that the program set as one to start from."""
        self._tape.states.append(state)
        stream.origins[key] = stream.bases[key] = State(len(self._tape.states) - 1)


def default_generator(device: torch.device) -> torch.Generator:
    """The generator that draws on a device use when they name none."""
    if device.type in ("cpu", "meta"):
        return torch.default_generator
    generators: tuple[torch.Generator, ...] = getattr(torch, device.type).default_generators
    return generators[device.index or 0]


def _key(generator: torch.Generator) -> tuple[int, ...]:
    """What tells the state of a generator from others: the seed, the position, and two words of the numbers."""
    return tuple(generator.get_state()[:40].view(torch.int64).tolist())


def _mark(generator: torch.Generator) -> None:
    """Bring a generator into a state that nothing else leads to, and that reports the seed of now.

    The state of the CPU is its seed, its position and its words; elsewhere it is a seed and an offset, a multiple of four.
    """
    number = next(_MARKERS)
    state = generator.get_state()
    if generator.device.type == "cpu":
        marker = torch.Generator().manual_seed(number).get_state()
        marker[:8] = state[:8]
        state = marker
    else:
        state[8:] = torch.tensor([4 * number]).view(torch.uint8)
    generator.set_state(state)
