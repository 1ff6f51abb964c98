"""What is one tensor before it is materialised is one tensor afterwards."""

from __future__ import annotations

import copy
import pickle

import pytest
import torch
from torch import nn

from qten_gen import Module, param, submodule

from .declared import Decoder, tensors


class Tied(Module):
    """Ties by hand, in the direction that a flag says."""

    embed_is_head: bool
    embed: nn.Embedding = submodule(nn.Embedding, 50, 40)
    head: nn.Linear = submodule(nn.Linear, 40, 50, bias=False)

    def __post_init__(self) -> None:
        if self.embed_is_head:
            self.embed.weight = self.head.weight
        else:
            self.head.weight = self.embed.weight


@pytest.mark.parametrize("embed_is_head", [False, True])
def test_a_tie_by_hand_holds_and_has_the_distribution_of_the_module_that_made_it(embed_is_head: bool) -> None:
    with torch.device("meta"):
        plain = Tied(embed_is_head)
    expected = float(Tied(embed_is_head).head.weight.detach().std())
    for module in (Tied.on_meta(embed_is_head), plain):
        alias = nn.ParameterList([module.embed.weight])
        module.materialize("cpu", seed=0)
        assert module.head.weight is module.embed.weight is alias[0]
        assert float(module.head.weight.detach().std()) == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda module: pickle.loads(pickle.dumps(module))])
def test_a_copy_on_meta_knows_it_too(copied: type) -> None:
    module: Tied = copied(Tied.on_meta(True))
    whole = Tied.on_meta(True).materialize("cpu", seed=0)

    torch.testing.assert_close(module.materialize("cpu", seed=0).embed.weight, whole.embed.weight, rtol=0, atol=0)
    assert module.embed.weight is module.head.weight


def test_the_tensors_stay_the_objects_that_they_are() -> None:
    module = Decoder.on_meta(7, 4)
    before = list(module.parameters())
    optimizer = torch.optim.SGD(module.parameters(), lr=1.0)

    module.materialize("cpu", seed=0)

    kept = [one is other for one, other in zip(before, module.parameters(), strict=True)]
    assert kept.count(False) == 4  # those of the LSTM, which refers to them weakly
    assert module.head is module.embed.weight
    module.head.grad = torch.ones_like(module.head)
    value = module.embed.weight.detach().clone()
    optimizer.step()
    torch.testing.assert_close(module.embed.weight, value - 1)


def test_a_module_under_two_names_is_materialised_once() -> None:
    class Twice(Module):
        first: nn.Linear = submodule(nn.Linear, 2, 2)

        def __post_init__(self) -> None:
            self.register_module("second", self.first)

    twice = Twice.on_meta().materialize("cpu", seed=0)
    assert twice.get_submodule("second") is twice.first
    assert not twice.first.weight.is_meta


def test_where_the_parent_changes_a_tied_tensor_that_counts() -> None:
    class Net(Module):
        embed: nn.Embedding = submodule(nn.Embedding, 5, 4)
        head: nn.Parameter = param(tie="embed.weight")

        def reset_parameters(self) -> None:
            with torch.no_grad():
                self.head.fill_(3)

    assert torch.equal(Net.on_meta().materialize("cpu", seed=0).embed.weight, torch.full((5, 4), 3.0))


def test_a_tie_survives_to_empty_assign_and_materialize() -> None:
    """pytorch 188346, accelerate 3668: a tie is lost by `to_empty` from meta and by `load_state_dict(assign=True)`."""
    state = Decoder(7, 4).state_dict()
    for model in (
        Decoder.on_meta(7, 4).materialize("cpu", seed=0),
        Decoder.on_meta(7, 4).to_empty(device="cpu"),
    ):
        assert model.head is model.embed.weight
    model = Decoder.on_meta(7, 4)
    model.load_state_dict(state, assign=True)
    assert model.head is model.embed.weight and not model.head.is_meta

    # What the checkpoint lacks is still on meta after `assign`, and materialize() gives it values.
    left = [name for name, tensor in tensors(model).items() if tensor.is_meta]
    assert left == ["blocks.0.table", "blocks.1.table"]
    model.materialize("cpu", seed=0)
    assert model.blocks[0].table.tolist() == [0.25] * 4
    torch.testing.assert_close(model.head, state["head"], rtol=0, atol=0)
