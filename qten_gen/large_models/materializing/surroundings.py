"""What surrounds an initialiser: random generators in a state of its own, poisoned memory, and a watch over what it does."""

from __future__ import annotations

import hashlib
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves


def state_of(seed: int, name: str) -> Tensor:
    """The state of a CPU generator for a module. All its 19,937 bits come from seed and name: 32 would be too few to differ."""
    words = hashlib.shake_128(b"%d " % seed + name.encode()).digest(4 * _WORDS)
    state = _fresh_state().clone()
    state[_FIRST_WORD : _FIRST_WORD + 8 * _WORDS].view(torch.int32)[::2] = torch.frombuffer(
        bytearray(words), dtype=torch.int32
    )
    return state


_WORDS = 624
_FIRST_WORD = 24
"""Where the words of a Mersenne Twister stand in the bytes of `Generator.get_state()`, eight bytes each, of which four count."""


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


@contextmanager
def seeded(seed: int, name: str) -> Iterator[None]:
    """The generators of torch, Python and NumPy in a state that depends on seed and name alone; afterwards they are as before."""
    numpy = sys.modules.get("numpy")
    before, of_numpy = random.getstate(), numpy and numpy.random.get_state()
    state = state_of(seed, name)
    number = int.from_bytes(state[_FIRST_WORD : _FIRST_WORD + 4].tolist(), "little")
    of_torch = torch.get_rng_state()
    try:
        torch.set_rng_state(state)
        random.seed(number)
        if numpy:
            numpy.random.seed(number)
        yield
    finally:
        torch.set_rng_state(of_torch)
        random.setstate(before)
        if numpy:
            numpy.random.set_state(of_numpy)


_INTEGER_POISONS = (0xA5, 0x5A)


def poison(tensor: Tensor, attempt: int) -> Tensor:
    """Fill a tensor with what an initialiser is unlikely to write: nan, bytes that no truth value has, unlikely integers."""
    with torch.no_grad():
        if is_floating(tensor):
            return tensor.fill_(torch.nan)
        memory = torch.empty(0, dtype=torch.uint8).set_(tensor.untyped_storage())
        memory.fill_(2 if tensor.dtype is torch.bool else _INTEGER_POISONS[attempt])
    return tensor


def poisoned(tensor: Tensor, attempt: int) -> Tensor:
    """Where a tensor still has the poison, as truth values."""
    tensor = tensor.detach()
    if is_floating(tensor):
        return torch.isnan(tensor.float() if tensor.dtype.itemsize == 1 else tensor)
    if tensor.dtype is torch.bool:
        return tensor.view(torch.uint8) > 1
    byte = _INTEGER_POISONS[attempt]
    number = int.from_bytes([byte] * tensor.dtype.itemsize, "little", signed=tensor.dtype.is_signed)
    return tensor == number


class Watch(TorchFunctionMode):
    """What an initialiser must not do: draw from a generator of its own, or use the tensors of modules outside of its unit.

    New memory is poisoned, so that a copy of `torch.empty(3)` counts as nothing.
    """

    def __init__(self, guarded: Mapping[int, str], attempt: int) -> None:
        super().__init__()
        self.where = ""
        """The method that runs, for errors."""
        self._guarded, self._attempt = guarded, attempt

    def __torch_function__(
        self,
        func: Callable[..., object],
        types: Sequence[type],
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        kwargs = kwargs or {}
        generator = kwargs.get("generator")
        if isinstance(generator, torch.Generator) and generator is not torch.default_generator:
            raise ValueError(
                f"materialize(): {self.where} draws from a generator of its own; the numbers depend on the seed and the name of"
                " the module, so leave generator= out (or use qten_gen.deferred_init, which keeps generators)"
            )
        if self._guarded and func not in _HARMLESS:
            for value in tree_leaves((args, kwargs)):
                if isinstance(value, Tensor) and id(value) in self._guarded:
                    raise RuntimeError(
                        f"materialize(): {self.where} uses {self._guarded[id(value)]}, which another declared module owns; each"
                        " process may hold a part of it: say it there, by initializer= or in its reset_parameters"
                    )
        found = func(*args, **kwargs)
        if func in _EMPTY and isinstance(found, Tensor) and not found.is_meta:
            poison(found, self._attempt)
        return found


_EMPTY = {
    torch.empty,
    torch.empty_like,
    torch.empty_strided,
    torch.empty_permuted,
    Tensor.new_empty,
    Tensor.new_empty_strided,
}
_HARMLESS = {
    Tensor.size,
    Tensor.dim,
    Tensor.numel,
    Tensor.is_floating_point,
    Tensor.__len__,
    Tensor.__hash__,
    *(
        getattr(Tensor, name).__get__
        for name in ("shape", "dtype", "device", "ndim", "is_meta", "requires_grad", "layout")
    ),
}
"""Functions that ask a tensor for what it is on meta too."""


def is_floating(tensor: Tensor) -> bool:
    """Whether a tensor can hold nan."""
    return tensor.is_floating_point() or tensor.is_complex()
