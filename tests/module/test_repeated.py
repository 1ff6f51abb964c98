"""Repeated submodules: typed lists and dicts."""

from __future__ import annotations

import copy
import pickle

import pytest
import torch
from torch import nn

import qten_gen
from qten_gen import DeclarationError, Module, ModuleDict, ModuleList, param, submodule

from .layered import tokens, towers


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_repeat_is_an_expression(depth: int) -> None:
    class Stack(Module):
        depth: int
        layers: ModuleList[nn.Linear] = submodule(nn.Linear, 2, 2, repeat="2*depth")

    assert len(Stack(depth).layers) == 2 * depth


class Numbered(Module):
    """Knows its place among its siblings, and starts with weights that are smaller the deeper it is."""

    dim: int
    layer: int
    weight: nn.Parameter = param("dim", initializer="scaled")

    def scaled(self, tensor: torch.Tensor) -> None:
        nn.init.constant_(tensor, 1 / (self.layer + 1))


def test_an_argument_can_be_the_index_of_a_repeated_child() -> None:
    class Stack(Module):
        depth: int
        up: ModuleList[Numbered] = submodule(Numbered, 2, layer="index", repeat="depth")
        down: ModuleList[Numbered] = submodule(Numbered, 2, "depth-index", repeat="depth")
        named: ModuleDict[Numbered] = submodule(Numbered, 2, "index+1", keys=("first", "second"))
        inner: ModuleList[nn.Sequential] = submodule(nn.Sequential, submodule(Numbered, 2, "2*index"), repeat=2)

    stack = Stack(3)

    assert [child.layer for child in stack.up] == [0, 1, 2]
    assert [child.layer for child in stack.down] == [3, 2, 1]
    assert {name: child.layer for name, child in stack.named.items()} == {"first": 1, "second": 2}
    assert [child[0].layer for child in stack.inner] == [0, 2]
    assert [child.weight[0].item() for child in stack.up] == pytest.approx([1, 1 / 2, 1 / 3])


def test_a_subclass_cannot_give_the_index_another_meaning() -> None:
    class Stack(Module):
        children_: ModuleList[Numbered] = submodule(Numbered, 2, "index", repeat=2)

    with pytest.raises(DeclarationError, match="index is the position of each child of children_, and also a config"):

        class Wide(Stack):
            index: int = 3


def test_lists_and_dicts_are_those_of_torch_and_keep_their_class() -> None:
    ours, _ = towers()
    for twin in (ours, copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        assert type(twin.layers) is ModuleList and isinstance(twin.layers, nn.ModuleList)
        assert type(twin.heads) is ModuleDict and isinstance(twin.heads, nn.ModuleDict)
    assert type(ours.layers[1:]) is ModuleList
    assert qten_gen.ModuleList([nn.Linear(1, 1)])[0].in_features == 1


def test_a_tower_can_be_exported() -> None:
    ours, _ = towers()
    exported = torch.export.export(ours, (tokens(),)).module()

    torch.testing.assert_close(exported(tokens()), ours(tokens()))
