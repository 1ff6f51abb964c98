"""Fields with `when=` are there or None."""

from __future__ import annotations

import copy
import pickle

import pytest
import torch
from torch import nn

from qten_gen import Module, Sequential, sequential, submodule

from .layered import Layer


class Switched(Module):
    """Has no parameter of its own."""

    dim: int
    wide: bool
    norm: nn.LayerNorm | None = submodule(nn.LayerNorm, "dim", when="wide")
    body: Sequential | None = sequential(submodule(nn.Linear, "dim", "dim"), nn.ReLU, when="wide")


class Outer(Module):
    """Holds a child that has children."""

    dim: int
    wide: bool = False
    only: Switched = submodule(Switched, "dim", "wide")


def test_what_is_not_wanted_is_registered_as_none() -> None:
    layer = Layer(4, use_bias=False)

    assert (layer.bias, layer.gate, layer.norm) == (None, None, None)
    assert (layer._parameters["bias"], layer._buffers["gate"], layer._modules["norm"]) == (None, None, None)


@pytest.mark.parametrize("use_bias", [True, False])
def test_moves_copies_and_loading_keep_what_is_there(use_bias: bool) -> None:
    layer = Layer(4, use_bias).double()
    for twin in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer)), layer.to("meta").to_empty(device="cpu")):
        assert (twin.bias is None, twin.gate is None, twin.norm is None) == (not use_bias,) * 3
        assert twin.weight.dtype == torch.float64

    target = Layer(4, use_bias)
    target.load_state_dict(Layer(4, use_bias).state_dict(), assign=True)
    assert (target.bias is None) == (not use_bias)


@pytest.mark.parametrize("assign", [True, False])
def test_the_weights_of_a_child_that_is_switched_off_are_unexpected(assign: bool) -> None:
    found = Outer(2).load_state_dict(Outer(2, wide=True).state_dict(), strict=False, assign=assign)

    assert found == ([], ["only.norm.weight", "only.norm.bias", "only.body.0.weight", "only.body.0.bias"])
