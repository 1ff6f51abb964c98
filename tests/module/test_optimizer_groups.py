"""`optimizer_groups`: every parameter once, in the group that the nearest declaration names."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from qten_gen import Module, ModuleList, Sequential, param, sequential, submodule


class Scale(Module):
    dim: int
    weight: nn.Parameter = param("dim", initializer=nn.init.ones_, group="default")
    bias: nn.Parameter = param("dim", initializer=nn.init.zeros_, group="no_decay")


class Net(Module):
    dim: int
    embed: nn.Embedding = submodule(nn.Embedding, 5, "dim", group="embeddings")
    scales: ModuleList[Scale] = submodule(Scale, "dim", repeat=2)
    mlp: Sequential = sequential(submodule(nn.Linear, "dim", "dim"), nn.ReLU, group="default")
    norm: nn.LayerNorm = submodule(nn.LayerNorm, "dim", group="no_decay")
    gains: nn.ParameterList = param("dim", repeat=2, initializer=nn.init.ones_, group="no_decay")
    head: nn.Parameter = param(tie="embed.weight")


def grouped(module: Module) -> dict[str, set[str]]:
    names = {parameter: name for name, parameter in module.named_parameters()}
    return {group["name"]: {names[each] for each in group["params"]} for group in module.optimizer_groups()}


def test_every_parameter_is_in_one_group() -> None:
    net = Net(3)
    groups = net.optimizer_groups()
    found = [parameter for group in groups for parameter in group["params"]]
    assert len(found) == len(set(found))
    assert set(found) == set(net.parameters())


def test_the_nearest_declaration_decides() -> None:
    assert grouped(Net(3)) == {
        "embeddings": {"head"},
        "default": {"scales.0.weight", "scales.1.weight", "mlp.0.weight", "mlp.0.bias"},
        "no_decay": {"scales.0.bias", "scales.1.bias", "norm.weight", "norm.bias", "gains.0", "gains.1"},
    }


def test_an_optimizer_takes_the_groups_with_their_options() -> None:
    groups = Net(3).optimizer_groups({"no_decay": {"weight_decay": 0.0}, "embeddings": {"lr": 0.5}})
    optimizer = torch.optim.AdamW(groups, lr=0.1, weight_decay=0.2)
    assert {group["name"]: (group["lr"], group["weight_decay"]) for group in optimizer.param_groups} == {
        "embeddings": (0.5, 0.2),
        "default": (0.1, 0.2),
        "no_decay": (0.1, 0.0),
    }


def test_parametrizations_stay_in_the_group_of_their_parameter() -> None:
    net = Scale(3)
    nn.utils.parametrize.register_parametrization(net, "bias", nn.Identity())
    assert grouped(net)["no_decay"] == {"parametrizations.bias.original"}


def test_an_unknown_group_is_an_error_with_a_suggestion() -> None:
    with pytest.raises(ValueError, match=r"Net has no parameter group 'no_decoy': did you mean no_decay\?"):
        Net(3).optimizer_groups({"no_decoy": {"weight_decay": 0.0}})
    with pytest.raises(ValueError, match="contain 'params'"):
        Net(3).optimizer_groups({"no_decay": {"params": []}})
