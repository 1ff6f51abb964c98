"""Every kind of layer of torch.nn is the same deferred as eager."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations, prune

from .comparing import assert_same_as_eager

LAYERS: dict[str, Callable[[], nn.Module]] = {
    "AdaptiveLogSoftmaxWithLoss": lambda: nn.AdaptiveLogSoftmaxWithLoss(32, 20, [5, 10]),
    "BatchNorm2d": lambda: nn.BatchNorm2d(4),
    "BCEWithLogitsLoss": lambda: nn.BCEWithLogitsLoss(pos_weight=torch.rand(3)),
    "Bilinear": lambda: nn.Bilinear(2, 3, 4),
    "Conv1d": lambda: nn.Conv1d(2, 4, 3, bias=False),
    "Conv2d": lambda: nn.Conv2d(2, 4, 3, groups=2),
    "Conv2d in channels_last": lambda: _in_channels_last(nn.Conv2d(2, 4, 3)),
    "ConvTranspose3d": lambda: nn.ConvTranspose3d(2, 4, 3),
    "CrossEntropyLoss": lambda: nn.CrossEntropyLoss(weight=torch.ones(3)),
    "Embedding": lambda: nn.Embedding(10, 4, padding_idx=2),
    "Embedding.from_pretrained": lambda: nn.Embedding.from_pretrained(torch.rand(4, 3)),  # type: ignore[no-untyped-call] # torch gives it no types
    "EmbeddingBag": lambda: nn.EmbeddingBag(10, 4, padding_idx=2, max_norm=1.0),
    "GroupNorm": lambda: nn.GroupNorm(2, 4),
    "GRU": lambda: nn.GRU(3, 4, 2, dropout=0.1),
    "InstanceNorm2d": lambda: nn.InstanceNorm2d(3, affine=True, track_running_stats=True),
    "LayerNorm": lambda: nn.LayerNorm(4),
    "Lazy layers": lambda: nn.Sequential(nn.LazyLinear(3), nn.LazyBatchNorm1d(), nn.LazyConv2d(3, 3), nn.Linear(2, 3)),
    "Linear": lambda: nn.Linear(4, 5),
    "LSTM": lambda: nn.LSTM(3, 4, 2, bidirectional=True, proj_size=2),
    "LSTMCell": lambda: nn.LSTMCell(3, 4),
    "MultiheadAttention": lambda: nn.MultiheadAttention(8, 2),
    "MultiheadAttention with other sizes": lambda: nn.MultiheadAttention(8, 2, kdim=4, vdim=6, add_bias_kv=True),
    "NLLLoss": lambda: nn.NLLLoss(weight=torch.arange(3.0)),
    "ParameterDict": lambda: nn.ParameterDict({"a": torch.randn(3), "b": nn.Parameter(torch.ones(2))}),
    "ParameterList": lambda: nn.ParameterList([torch.randn(3), torch.ones(2)]),
    "PReLU": lambda: nn.PReLU(3),
    "RMSNorm": lambda: nn.RMSNorm(4),
    "RNN": lambda: nn.RNN(3, 4, 2, nonlinearity="relu"),
    "SyncBatchNorm": lambda: nn.SyncBatchNorm(3),
    "Transformer": lambda: nn.Transformer(8, 2, 2, 2, 16, batch_first=True),
    "TransformerDecoder": lambda: nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16), 2),
    "TransformerEncoderLayer in half": lambda: nn.TransformerEncoderLayer(8, 2, 16).half(),
    "a deep copy": lambda: copy.deepcopy(nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))),
    "double": lambda: nn.Sequential(nn.Embedding(5, 3, padding_idx=0), nn.BatchNorm1d(3)).double(),
    "orthogonal": lambda: parametrizations.orthogonal(nn.Linear(4, 4)),
    "orthogonal by cayley": lambda: parametrizations.orthogonal(nn.Linear(6, 4), orthogonal_map="cayley"),
    "spectral_norm": lambda: parametrizations.spectral_norm(nn.Linear(4, 5)),
    "weight_norm": lambda: parametrizations.weight_norm(nn.Linear(4, 5)),
    "spectral_norm by hooks": lambda: nn.utils.spectral_norm(nn.Linear(4, 5)),
    "pruned": lambda: _pruned(),
}


def _in_channels_last(module: nn.Module) -> nn.Module:
    return module.to(memory_format=torch.channels_last)  # type: ignore[call-overload, no-any-return] # not in torch's stubs


def _pruned() -> nn.Module:
    layer = nn.Linear(4, 5)
    prune.random_unstructured(layer, "weight", amount=0.5)  # type: ignore[no-untyped-call] # torch gives it no types
    return layer


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_is_the_same_deferred_as_eager(name: str) -> None:
    assert_same_as_eager(LAYERS[name])


@pytest.mark.filterwarnings("ignore:.*weight_norm.* is deprecated:FutureWarning")
def test_weight_norm_by_hooks_keeps_its_autograd_graph() -> None:
    assert_same_as_eager(lambda: nn.utils.weight_norm(nn.Linear(4, 5)))
