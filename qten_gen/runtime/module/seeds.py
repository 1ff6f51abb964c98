"""Random generators in a state that depends on a number and a name alone."""

from __future__ import annotations

import hashlib
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def seeded(seed: int, name: str) -> Iterator[None]:
    """The generators of torch, Python and NumPy seeded by a seed and a name alone; afterwards they are as before."""
    numpy = sys.modules.get("numpy")
    before, of_numpy, of_torch = random.getstate(), numpy and numpy.random.get_state(), torch.get_rng_state()
    number = int.from_bytes(hashlib.blake2b(f"{seed} {name}".encode(), digest_size=4).digest(), "little")
    try:
        torch.default_generator.manual_seed(number)  # and none of an accelerator
        random.seed(number)
        if numpy:
            numpy.random.seed(number)
        yield
    finally:
        torch.set_rng_state(of_torch)
        random.setstate(before)
        if numpy:
            numpy.random.set_state(of_numpy)
