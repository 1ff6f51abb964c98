"""What constructors do, layers of torch.nn and declared modules are the same deferred as eager."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from qten_gen import deferred_init, is_deferred, materialize_module
from qten_gen.large_models.deferred.tape import DeferredError
from qten_gen.runtime.module.module_base import VIRTUAL_CACHE
from tests.large_models.materializing.declared import Block, Decoder

from .comparing import assert_equal, assert_same_as_eager, deferred, seeded
from .constructors import CONSTRUCTORS, Written

REFUSED = {"numpy_on_tensors", "an_array_of_a_tensor_that_changes", "an_array_that_meets_a_tensor"}
"""The constructors that ask for an array in the memory of a tensor."""


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
@pytest.mark.parametrize("name", CONSTRUCTORS)
def test_a_constructor_gives_the_same_deferred_as_eager(name: str) -> None:
    if name not in REFUSED:
        assert_same_as_eager(lambda: Written(CONSTRUCTORS[name]))
        return
    with pytest.raises(
        DeferredError, match=r"deferred tensor has no memory yet; .* tolist\(\) or torch.from_numpy\(array"
    ):
        deferred_init(Written, CONSTRUCTORS[name])


LAYERS: dict[str, Callable[[], nn.Module]] = {
    "BatchNorm2d": lambda: nn.BatchNorm2d(4),
    "BCEWithLogitsLoss": lambda: nn.BCEWithLogitsLoss(pos_weight=torch.rand(3)),
    "Conv2d": lambda: nn.Conv2d(2, 4, 3, groups=2),
    "EmbeddingBag": lambda: nn.EmbeddingBag(10, 4, padding_idx=2, max_norm=1.0),
    "GRU": lambda: nn.GRU(3, 4, 2, dropout=0.1),
    "InstanceNorm2d": lambda: nn.InstanceNorm2d(3, affine=True, track_running_stats=True),
    "ParameterList": lambda: nn.ParameterList([torch.randn(3), torch.ones(2)]),
    "Transformer": lambda: nn.Transformer(8, 2, 2, 2, 16, batch_first=True),
    "TransformerEncoderLayer in half": lambda: nn.TransformerEncoderLayer(8, 2, 16).half(),
    "double": lambda: nn.Sequential(nn.Embedding(5, 3, padding_idx=0), nn.BatchNorm1d(3)).double(),
    "cayley": lambda: nn.utils.parametrizations.orthogonal(nn.Linear(6, 4), orthogonal_map="cayley"),
    "a lazy module that runs": lambda: _run(nn.LazyLinear(10)),
    "declared: every kind of field": lambda: Block(4),
    "declared: repeated, keyed and tied": lambda: Decoder(7, 4),
    "declared: within modules, half": lambda: nn.Sequential(Block(4), nn.Linear(2, 2), Block(2)).half(),
    "declared: a dtype": lambda: Block(4, dtype=torch.float64),
}


def _run(layer: nn.Module) -> nn.Module:
    layer(torch.ones(10, 10))
    return layer


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_is_the_same_deferred_as_eager(name: str) -> None:
    assert_same_as_eager(LAYERS[name])


def test_deterministic_algorithms_of_a_constructor_are_used_when_it_is_carried_out() -> None:
    def make() -> nn.Module:
        torch.use_deterministic_algorithms(True)
        try:
            return nn.ParameterList([torch.empty(4)])  # which they fill with nan
        finally:
            torch.use_deterministic_algorithms(False)

    assert_same_as_eager(make)
    assert not torch.are_deterministic_algorithms_enabled()


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
