"""Random numbers that depend on a key alone: not on what was drawn before, by which process, or in which order.

A draw of n numbers is cut into blocks of `BLOCK` elements in flattened order, and each block has a generator of its own. So a
process that needs a part of a draw draws the blocks that its part touches, and the numbers are those of the whole draw.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor
from torch._ops import OpOverload

from .initialisers import trunc_normal

BLOCK = 65_536
"""Elements of a block. It is part of what a seed means: another number gives other values."""

Fill = Callable[[Tensor, torch.Generator], object]
"""Writes random numbers into the tensor, from the generator."""


@dataclass(frozen=True, slots=True)
class Key:
    """The values on which the numbers of one draw depend."""

    seed: int
    name: str
    """Qualified name of the tensor that the draw fills, `layers.0.weight`."""
    index: int
    """How many draws come before it on that tensor."""


def generator_of(key: Key, block: int) -> torch.Generator:
    """The generator of a block. All 19,937 bits of its state come from the key: `manual_seed` takes 32 bits, which are too few
    for the blocks of a large model to differ.
    """
    state = _fresh_state().clone()
    state[_FIRST_WORD : _FIRST_WORD + 8 * _WORDS].view(torch.int32)[::2] = _words_of(key, block)
    generator = torch.Generator()
    generator.set_state(state)
    return generator


@dataclass(frozen=True, slots=True)
class Draw:
    """One operation that draws a number for each element of a tensor, whatever its neighbours get."""

    fill: Fill
    key: Key
    numel: int
    """Elements of the whole draw, of which a part may be wanted."""

    def into(self, flat: Tensor, start: int = 0) -> None:
        """Write the elements from `start` on into `flat`: one dimension, contiguous, on the CPU, of the dtype to draw in."""
        stop = start + flat.numel()
        for block in range(start // BLOCK, -(-stop // BLOCK)):
            first, last = block * BLOCK, min((block + 1) * BLOCK, self.numel)
            if start <= first and last <= stop:
                self.fill(flat[first - start : last - start], generator_of(self.key, block))
            else:
                whole = self.block(block, flat.dtype)
                low, high = max(first, start), min(last, stop)
                flat[low - start : high - start].copy_(whole[low - first : high - first])

    def block(self, block: int, dtype: torch.dtype) -> Tensor:
        """All elements of one block."""
        drawn = torch.empty(min(BLOCK, self.numel - block * BLOCK), dtype=dtype)
        self.fill(drawn, generator_of(self.key, block))
        return drawn

    def whole(self, tensor: Tensor) -> None:
        """Write the whole draw into a tensor of any layout on the CPU."""
        if tensor.is_contiguous() and not tensor.is_conj() and not tensor.is_neg():
            self.into(tensor.view(-1))
            return
        drawn = torch.empty(tensor.numel(), dtype=tensor.dtype)
        self.into(drawn)
        tensor.copy_(drawn.view(tensor.shape))


def elementwise_fill(operation: OpOverload, args: Sequence[object], kwargs: Mapping[str, object]) -> Fill | None:
    """The draw of an operation for each element of the tensor that it fills, its first argument.

    None if it does not draw, or draws otherwise: for a new tensor, as `randn` does, or not each for itself, as `multinomial`.
    """
    if operation not in _elementwise():
        return None
    rest, options = tuple(args[1:]), dict(kwargs)
    return lambda tensor, generator: operation(tensor, *rest, **{**options, "generator": generator})


@cache
def _elementwise() -> frozenset[OpOverload]:
    """The operations that fill a tensor with numbers drawn one for each element."""
    names = (
        "normal_ uniform_ exponential_ log_normal_ cauchy_ geometric_ random_ random_.from random_.to bernoulli_.float"
    )
    found = {trunc_normal()}
    for name in names.split():
        packet, _, variant = name.partition(".")
        found.add(getattr(getattr(torch.ops.aten, packet), variant or "default"))
    return frozenset(found)


_WORDS = 624
_FIRST_WORD = 24
"""Where the words of a Mersenne Twister stand in the bytes of `Generator.get_state()`, eight bytes each, of which four count."""


def _words_of(key: Key, block: int) -> Tensor:
    name = key.name.encode()
    text = b"%d %d %d %d " % (key.seed, key.index, block, len(name)) + name
    return torch.frombuffer(bytearray(hashlib.shake_128(text).digest(4 * _WORDS)), dtype=torch.int32)


@cache
def _fresh_state() -> Tensor:
    """The state of a generator that has drawn nothing, and a check that its words stand where they are written.

    Raises:
        RuntimeError: this torch keeps the state of a generator in another form.
    """
    state = torch.Generator().manual_seed(1).get_state()
    words = state[_FIRST_WORD : _FIRST_WORD + 8 * _WORDS].view(torch.int64)
    if words[:3].tolist() != [1, 1812433254, 3713160357]:
        raise RuntimeError(
            f"torch {torch.__version__} keeps the state of a CPU generator in a form that qten-gen cannot write"
        )
    return state
