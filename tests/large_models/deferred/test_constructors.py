"""What constructors do, and every kind of layer of torch.nn, is the same deferred as eager."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from qten_gen import deferred_init
from qten_gen.large_models.deferred.errors import DeferredError

from .comparing import assert_same_as_eager
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
    "Conv1d": lambda: nn.Conv1d(2, 4, 3, bias=False),
    "Conv2d": lambda: nn.Conv2d(2, 4, 3, groups=2),
    "ConvTranspose3d": lambda: nn.ConvTranspose3d(2, 4, 3),
    "CrossEntropyLoss": lambda: nn.CrossEntropyLoss(weight=torch.ones(3)),
    "EmbeddingBag": lambda: nn.EmbeddingBag(10, 4, padding_idx=2, max_norm=1.0),
    "GroupNorm": lambda: nn.GroupNorm(2, 4),
    "GRU": lambda: nn.GRU(3, 4, 2, dropout=0.1),
    "InstanceNorm2d": lambda: nn.InstanceNorm2d(3, affine=True, track_running_stats=True),
    "LSTMCell": lambda: nn.LSTMCell(3, 4),
    "NLLLoss": lambda: nn.NLLLoss(weight=torch.arange(3.0)),
    "ParameterList": lambda: nn.ParameterList([torch.randn(3), torch.ones(2)]),
    "PReLU": lambda: nn.PReLU(3),
    "RMSNorm": lambda: nn.RMSNorm(4),
    "RNN": lambda: nn.RNN(3, 4, 2, nonlinearity="relu"),
    "Transformer": lambda: nn.Transformer(8, 2, 2, 2, 16, batch_first=True),
    "TransformerEncoderLayer in half": lambda: nn.TransformerEncoderLayer(8, 2, 16).half(),
    "double": lambda: nn.Sequential(nn.Embedding(5, 3, padding_idx=0), nn.BatchNorm1d(3)).double(),
    "cayley": lambda: nn.utils.parametrizations.orthogonal(nn.Linear(6, 4), orthogonal_map="cayley"),
    "a lazy module that runs": lambda: _run(nn.LazyLinear(10)),
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
