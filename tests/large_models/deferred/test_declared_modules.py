"""Declared modules in deferred_init: the checks, ties and quick ways of their construction do not get in its way."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from qten_gen import is_deferred, materialize_module
from qten_gen.runtime.module.module_base import VIRTUAL_CACHE
from tests.large_models.materializing.declared import Block, Decoder

from .comparing import assert_equal, assert_same_as_eager, deferred, seeded

MODULES: dict[str, Callable[[], nn.Module]] = {
    "every kind of field": lambda: Block(4),
    "repeated, keyed and tied": lambda: Decoder(7, 4),
    "within modules": lambda: nn.Sequential(Block(4), nn.Linear(2, 2), Block(2)),
    "half": lambda: Block(4).half(),
    "a dtype": lambda: Block(4, dtype=torch.float64),
}


@pytest.mark.parametrize("name", MODULES)
def test_a_declared_module_is_the_same_deferred_as_eager(name: str) -> None:
    assert_same_as_eager(MODULES[name])


def _read() -> Block:
    module = Block(4)
    assert module.causal.shape == (4, 4)
    return module


def test_a_virtual_tensor_that_the_constructor_read_is_computed_and_cached_when_it_is_read_next() -> None:
    """Eager construction keeps the value. A deferred one has a fake value, which is never kept."""
    eager, module = seeded(_read), deferred(_read)
    assert is_deferred(module) and module.weight.shape == (4, 4)
    assert VIRTUAL_CACHE in vars(eager) and VIRTUAL_CACHE not in vars(module)
    materialize_module(module)
    assert VIRTUAL_CACHE not in vars(module)
    value = module.causal
    assert type(value) is torch.Tensor and torch.equal(value, eager.causal)
    assert module.causal is value, "it is cached now"
    del vars(eager)[VIRTUAL_CACHE], vars(module)[VIRTUAL_CACHE]
    assert_equal(eager, module)
