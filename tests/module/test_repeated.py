"""Repeated submodules: typed lists and dicts."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from qten_gen import DeclarationError, Module, ModuleList, param, submodule

from .layered import tokens, towers


class Numbered(Module):
    """Knows its place among its siblings, and starts with weights that are smaller the deeper it is."""

    dim: int
    layer: int
    weight: nn.Parameter = param("dim", initializer="scaled")

    def scaled(self, tensor: torch.Tensor) -> None:
        nn.init.constant_(tensor, 1 / (self.layer + 1))


def test_a_subclass_cannot_give_the_index_another_meaning() -> None:
    class Stack(Module):
        children_: ModuleList[Numbered] = submodule(Numbered, 2, "index", repeat=2)

    with pytest.raises(DeclarationError, match="index is the position of each child of children_, and also a config"):

        class Wide(Stack):
            index: int = 3


def test_a_tower_can_be_exported() -> None:
    ours, _ = towers()
    exported = torch.export.export(ours, (tokens(),)).module()

    torch.testing.assert_close(exported(tokens()), ours(tokens()))
