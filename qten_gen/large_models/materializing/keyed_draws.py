"""Random numbers that depend on a key alone: not on what was drawn before, by which process, or in which order.

A draw of n numbers is cut into blocks of `BLOCK` elements in flattened order, and each block has a generator of its own. So a
process that needs a part of a draw draws the blocks that its part touches, and the numbers are those of the whole draw.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from threading import local

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch.utils._python_dispatch import _disable_current_modes

from .initialisers import trunc_normal

BLOCK = 65_536
"""Elements of a block. It is part of what a seed means: another number gives other values."""

Fill = Callable[[Tensor, torch.Generator], object]
"""Writes random numbers into the tensor, from the generator."""

_aten = torch.ops.aten


@dataclass(frozen=True, slots=True)
class Key:
    """What the numbers of one draw depend on."""

    seed: int
    name: str
    """Qualified name of the tensor that the draw fills, `layers.0.weight`."""
    index: int
    """How many draws come before it on that tensor."""


def generator_of(key: Key, block: int) -> torch.Generator:
    """The generator of a block. All 19,937 bits of its state come from the key: `manual_seed` takes 32 bits, which are too few
    for the blocks of a large model to differ.
    """
    generator = torch.Generator()
    generator.set_state(_state_of(key, block))
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
                self.fill(flat[first - start : last - start], _OWN.at(self.key, block))
            else:
                whole = self.block(block, flat.dtype)
                low, high = max(first, start), min(last, stop)
                flat[low - start : high - start].copy_(whole[low - first : high - first])

    def block(self, block: int, dtype: torch.dtype) -> Tensor:
        """All elements of one block."""
        drawn = torch.empty(min(BLOCK, self.numel - block * BLOCK), dtype=dtype)
        self.fill(drawn, _OWN.at(self.key, block))
        return drawn

    def whole(self, tensor: Tensor) -> None:
        """Write the whole draw into a tensor of any layout on the CPU."""
        if tensor.is_contiguous() and not tensor.is_conj() and not tensor.is_neg():
            self.into(tensor.view(-1))
            return
        drawn = torch.empty(tensor.numel(), dtype=tensor.dtype)
        self.into(drawn)
        tensor.copy_(drawn.view(tensor.shape))


def elementwise_fill(operation: OpOverload, args: tuple[object, ...], kwargs: Mapping[str, object]) -> Fill | None:
    """What an operation draws for each element of its result, of its first argument where it works in place.

    None if the operation does not draw, or draws otherwise, as `randperm` and `multinomial` do.
    """
    found = _fills().get(operation)
    if found is None:
        return None
    schema = operation._schema.arguments
    given = {argument.name: value for argument, value in zip(schema, args, strict=False)} | dict(kwargs)
    if any(isinstance(value, Tensor) for name, value in given.items() if name in found.parameters):
        return None
    parameters = {there: given[name] for name, there in found.parameters.items() if name in given}
    in_place, fixed = found.in_place, found.fixed
    return lambda tensor, generator: in_place(tensor, **fixed, **parameters, generator=generator)


@dataclass(frozen=True, slots=True)
class _InPlace:
    """An operation that draws, as one that fills a tensor."""

    in_place: OpOverload
    parameters: Mapping[str, str]
    """The arguments that it is given, and what it calls them."""
    fixed: Mapping[str, object]


@cache
def _fills() -> dict[OpOverload, _InPlace]:
    """Every operation whose numbers are drawn one for each element."""
    methods: dict[str, tuple[str, ...]] = {
        "normal_": ("mean", "std"),
        "uniform_": ("from", "to"),
        "exponential_": ("lambd",),
        "log_normal_": ("mean", "std"),
        "cauchy_": ("median", "sigma"),
        "geometric_": ("p",),
        "random_": (),
        "random_.from": ("from", "to"),
        "random_.to": ("to",),
        "bernoulli_.float": ("p",),
    }
    found: dict[OpOverload, _InPlace] = {}
    for name, parameters in methods.items():
        in_place = _overload(name)
        assert in_place is not None, f"torch has no {name}"
        same = dict(zip(parameters, parameters, strict=True))
        found[in_place] = _InPlace(in_place, same, {})
        method, _, variant = name.partition(".")
        functional = "normal_functional" if method == "normal_" else method[:-1]
        other = _overload(f"{functional}.{'p' if method == 'bernoulli_' else variant or 'default'}")
        if other is not None:
            found[other] = _InPlace(in_place, same, {})
    found[trunc_normal()] = _InPlace(trunc_normal(), {name: name for name in ("mean", "std", "a", "b")}, {})
    uniform, normal = _aten.uniform_.default, _aten.normal_.default
    below, between = _aten.random_.to, getattr(_aten.random_, "from")
    factories: dict[str, _InPlace] = {
        **dict.fromkeys(
            ("rand", "rand.generator", "rand_like", "rand_like.generator"),
            _InPlace(uniform, {}, {"from": 0.0, "to": 1.0}),
        ),
        **dict.fromkeys(
            ("randn", "randn.generator", "randn_like", "randn_like.generator"),
            _InPlace(normal, {}, {"mean": 0.0, "std": 1.0}),
        ),
        "normal.float_float": _InPlace(normal, {"mean": "mean", "std": "std"}, {}),
    }
    for name in ("randint", "randint.generator", "randint_like", "randint_like.generator"):
        factories[name] = _InPlace(below, {"high": "to"}, {})
    for name in ("randint.low", "randint.low_generator", "randint_like.low_dtype", "randint_like.low_generator_dtype"):
        factories[name] = _InPlace(between, {"low": "from", "high": "to"}, {})
    for name, record in factories.items():
        if (factory := _overload(name)) is not None:
            found[factory] = record
    return found


def _overload(name: str) -> OpOverload | None:
    """`aten.rand.generator` for `rand.generator`; None where this torch does not have it."""
    packet, _, variant = name.partition(".")
    found = getattr(getattr(_aten, packet, None), variant or "default", None)
    return found if isinstance(found, OpOverload) else None


_WORDS = 624
_FIRST_WORD = 24
"""Where the words of a Mersenne Twister stand in the bytes of `Generator.get_state()`, eight bytes each, of which four count."""


def _words_of(key: Key, block: int) -> Tensor:
    name = key.name.encode()
    text = b"%d %d %d %d " % (key.seed, key.index, block, len(name)) + name
    return torch.frombuffer(bytearray(hashlib.shake_128(text).digest(4 * _WORDS)), dtype=torch.int32)


def _state_of(key: Key, block: int) -> Tensor:
    state = _fresh_state().clone()
    _words_in(state).copy_(_words_of(key, block))
    return state


def _words_in(state: Tensor) -> Tensor:
    return state[_FIRST_WORD : _FIRST_WORD + 8 * _WORDS].view(torch.int32)[::2]


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


class _OwnGenerator(local):
    """A generator for each thread, which is brought to the start of one block after the other."""

    def __init__(self) -> None:
        with _disable_current_modes():  # of the caller who comes here first
            self._generator = torch.Generator()
            self._state = _fresh_state().clone()
            self._words = _words_in(self._state)

    def at(self, key: Key, block: int) -> torch.Generator:
        """The generator at the start of a block, until the next block is asked for."""
        self._words.copy_(_words_of(key, block))
        self._generator.set_state(self._state)
        return self._generator


_OWN = _OwnGenerator()
