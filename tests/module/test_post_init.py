"""`__post_init__`: the tensors that it registers are where the constructor was asked to put the module."""

from __future__ import annotations

import torch
from torch import nn

from qten_gen import Module, param, submodule


class Net(Module):
    dim: int
    scale: nn.Parameter = param("dim", dtype=torch.float32, initializer=nn.init.ones_)
    embed: nn.Embedding = submodule(nn.Embedding, 4, "dim")

    def __post_init__(self) -> None:
        self.head = nn.Linear(self.dim, 4)
        self.head.weight = self.embed.weight
        self.first, self.second = nn.Linear(2, 2), nn.Linear(2, 2)
        self.second.weight = self.first.weight
        self.register_buffer("steps", torch.arange(3))


def test_its_tensors_follow_the_dtype_of_the_constructor() -> None:
    net = Net(3, dtype=torch.bfloat16)
    assert {name: tensor.dtype for name, tensor in net.state_dict().items()} == {
        "scale": torch.float32,
        "embed.weight": torch.bfloat16,
        "head.weight": torch.bfloat16,
        "head.bias": torch.bfloat16,
        "first.weight": torch.bfloat16,
        "first.bias": torch.bfloat16,
        "second.weight": torch.bfloat16,
        "second.bias": torch.bfloat16,
        "steps": torch.int64,
    }


def test_its_tensors_follow_the_device_of_the_constructor() -> None:
    assert {tensor.device.type for tensor in Net(3, device="meta").state_dict().values()} == {"meta"}


def test_its_ties_hold_when_they_follow() -> None:
    for net in (Net(3, device="meta"), Net(3, dtype=torch.bfloat16)):
        assert net.head.weight is net.embed.weight
        assert net.first.weight is net.second.weight


def test_without_arguments_it_leaves_its_tensors_as_they_are() -> None:
    class Kept(Module):
        dim: int

        def __post_init__(self) -> None:
            self.table = nn.Parameter(torch.ones(self.dim, dtype=torch.float64))

    assert Kept(2).table.dtype == torch.float64


def test_materialize_gives_them_the_dtype_that_on_meta_was_given() -> None:
    net = Net.on_meta(3, dtype=torch.bfloat16)
    net.materialize("cpu")
    assert net.head.bias.dtype == net.first.weight.dtype == torch.bfloat16
    assert net.first.weight is net.second.weight
