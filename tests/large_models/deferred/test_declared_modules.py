"""Declared modules in deferred_init: the checks, ties and quick ways of their construction do not get in its way."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from qten_gen import (
    Module,
    ModuleList,
    buffer,
    deferred_init,
    is_deferred,
    materialize_module,
    param,
    submodule,
    virtual,
)
from qten_gen.runtime.module.module_base import VIRTUAL_CACHE

from .comparing import assert_equal, assert_same_as_eager


class Attention(Module):
    """A module with every kind of field."""

    dim: int
    heads: int = 2
    qkv: nn.Parameter = param("3*dim", "dim", initializer=nn.init.xavier_uniform_)
    scale: Tensor = buffer("heads", persistent=False, initializer=nn.init.ones_)
    norm: nn.LayerNorm = submodule(nn.LayerNorm, "dim")
    out: nn.Linear = submodule(nn.Linear, "dim", "dim")

    @virtual(cached=True)
    def causal(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.ones(self.dim, self.dim, dtype=dtype, device=device).tril()

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.out(self.norm(x)) @ self.causal
        return found


class Model(Module):
    """A module of declared modules."""

    dim: int
    embedding: nn.Embedding = submodule(nn.Embedding, 10, "dim")
    layers: ModuleList[Attention] = submodule(Attention, dim="dim", repeat=2)

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.embedding(x)
        return found


def _read() -> Attention:
    module = Attention(dim=4)
    assert module.causal.shape == (4, 4)
    return module


def test_a_declared_module_is_the_same_deferred_as_eager() -> None:
    assert_same_as_eager(lambda: Attention(dim=4))


def test_declared_modules_within_modules_are_the_same_deferred_as_eager() -> None:
    assert_same_as_eager(lambda: nn.Sequential(Attention(dim=4), nn.Linear(2, 2), Attention(dim=2)))


def test_repeated_declared_modules_are_the_same_deferred_as_eager() -> None:
    assert_same_as_eager(lambda: Model(dim=4))


def test_a_virtual_tensor_that_the_constructor_read_is_computed_and_cached_when_it_is_read_next() -> None:
    """Eager construction keeps the value. A deferred one has a fake value, which is never kept."""
    torch.manual_seed(0)
    eager = _read()
    torch.manual_seed(0)
    module = deferred_init(_read)
    assert VIRTUAL_CACHE in vars(eager) and VIRTUAL_CACHE not in vars(module)
    materialize_module(module)
    assert VIRTUAL_CACHE not in vars(module)
    value = module.causal
    assert type(value) is Tensor and torch.equal(value, eager.causal)
    assert module.causal is value, "it is cached now"
    del vars(eager)[VIRTUAL_CACHE], vars(module)[VIRTUAL_CACHE]
    assert_equal(eager, module)


def test_conversions_of_a_declared_module_are_deferred_too() -> None:
    assert_same_as_eager(lambda: Attention(dim=4).half())
    assert_same_as_eager(lambda: Attention(dim=4, dtype=torch.float64))


def test_a_materialized_declared_module_computes() -> None:
    torch.manual_seed(0)
    eager = Attention(dim=4)
    torch.manual_seed(0)
    module = deferred_init(Attention, dim=4)
    assert is_deferred(module) and module.qkv.shape == (12, 4)
    materialize_module(module)
    x = torch.ones(2, 4)
    assert torch.equal(module(x), eager(x))
