"""What is registered can be replaced, deleted, and put into another registry; `torch_tools` has moves, copies and loading."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from .declared import Block


def test_a_parameter_can_be_replaced() -> None:
    block = Block(4)
    new = nn.Parameter(torch.zeros(12, 4))
    block.weight = new
    assert block.weight is new
    assert dict(block.named_parameters())["weight"] is new


def test_a_plain_tensor_is_refused_in_place_of_a_parameter() -> None:
    with pytest.raises(TypeError, match=r"cannot assign .torch\.FloatTensor. as parameter 'weight'"):
        Block(4).weight = torch.zeros(12, 4)  # type: ignore[assignment] # what the test is about


def test_a_submodule_can_be_replaced() -> None:
    block = Block(4)
    block.norm = nn.LayerNorm(4, bias=False)
    assert block.norm is dict(block.named_modules())["norm"]
    assert block.norm.bias is None


def test_a_deleted_parameter_is_gone_and_can_come_back_as_a_plain_tensor() -> None:
    block = Block(4)
    del block.weight
    assert not hasattr(block, "weight")
    with pytest.raises(AttributeError, match="'Block' object has no attribute 'weight'"):
        block.weight  # noqa: B018 # what the test is about
    block.weight = torch.ones(12, 4)  # type: ignore[assignment] # what weight normalisation does
    assert torch.equal(block.weight, torch.ones(12, 4))
    assert "weight" not in dict(block.named_parameters())
    del block.weight
    assert not hasattr(block, "weight")


def test_a_name_can_move_from_one_registry_to_another() -> None:
    block = Block(4)
    del block.weight
    block.register_buffer("weight", torch.ones(12, 4))
    assert torch.equal(block.weight, torch.ones(12, 4))
    assert "weight" in dict(block.named_buffers())
