"""State dicts, moves and copies: what a hand-written module does."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable

import pytest
import torch
from torch import nn

from .declared import Block, PlainBlock, batch


def pickled(block: Block) -> Block:
    copied = pickle.loads(pickle.dumps(block))
    assert isinstance(copied, Block)
    return copied


def saved(block: Block) -> Block:
    file = io.BytesIO()
    torch.save(block, file)
    file.seek(0)
    loaded = torch.load(file, weights_only=False)
    assert isinstance(loaded, Block)
    return loaded


def trained(block: Block) -> Block:
    """A block whose values are no longer those of its initialisers."""
    with torch.no_grad():
        for tensor in (*block.parameters(), *block.buffers()):
            tensor.mul_(2).add_(0.5)
    return block


def test_the_state_dict_is_that_of_a_hand_written_module() -> None:
    declared, plain = Block(4).state_dict(), PlainBlock(4).state_dict()
    assert list(declared) == list(plain) == ["weight", "shift", "scale", "norm.weight", "norm.bias"]
    assert all(torch.equal(declared[key], plain[key]) for key in plain)


def test_checkpoints_are_interchangeable_in_both_directions() -> None:
    declared = trained(Block(4))
    plain = PlainBlock(4)
    plain.load_state_dict(declared.state_dict())
    back = Block(4)
    back.load_state_dict(plain.state_dict())
    plain.noise.copy_(declared.noise)
    back.noise.copy_(declared.noise)
    assert torch.equal(plain(batch()), declared(batch()))
    assert torch.equal(back(batch()), declared(batch()))


def test_a_missing_key_is_reported_by_its_public_name() -> None:
    state = Block(4).state_dict()
    del state["shift"]
    with pytest.raises(RuntimeError, match=r'Missing key\(s\) in state_dict: "shift"'):
        Block(4).load_state_dict(state)


def test_loading_with_assign_replaces_what_the_attribute_shows() -> None:
    state = {key: value.clone() for key, value in trained(Block(4)).state_dict().items()}
    block = Block(4, device="meta")
    block.load_state_dict(state, assign=True)
    assert torch.equal(block.weight, state["weight"])
    assert torch.equal(block.scale, state["scale"])
    assert isinstance(block.weight, nn.Parameter)


def test_to_empty_and_reset_parameters_make_a_usable_module_of_a_meta_one() -> None:
    block = Block(4, device="meta").to_empty(device="cpu")
    block.reset_parameters()
    block.norm.reset_parameters()
    assert torch.equal(block(batch()), PlainBlock(4)(batch()))


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_a_move_reaches_every_attribute(dtype: torch.dtype) -> None:
    block = Block(4).to(dtype)
    shown = (block.weight, block.shift, block.scale, block.noise, block.norm.weight, block.causal)
    assert {tensor.dtype for tensor in shown} == {dtype}


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("overwrite", [False, True])
def test_moves_work_under_both_future_flags(swap: bool, overwrite: bool) -> None:
    before = (
        torch.__future__.get_swap_module_params_on_conversion(),
        torch.__future__.get_overwrite_module_params_on_conversion(),
    )
    torch.__future__.set_swap_module_params_on_conversion(swap)
    torch.__future__.set_overwrite_module_params_on_conversion(overwrite)
    try:
        block = Block(4).double()
    finally:
        torch.__future__.set_swap_module_params_on_conversion(before[0])
        torch.__future__.set_overwrite_module_params_on_conversion(before[1])
    assert block.weight.dtype is torch.float64
    assert block.weight is dict(block.named_parameters())["weight"]


@pytest.mark.parametrize("copied", [copy.deepcopy, pickled, saved])
def test_a_copy_is_equal_and_independent(copied: Callable[[Block], Block]) -> None:
    block = trained(Block(4))
    twin = copied(block)
    assert torch.equal(twin(batch()), block(batch()))
    assert (twin.dim, twin.heads) == (4, 2)
    before = block.weight.clone()
    with torch.no_grad():
        twin.weight.zero_()
    assert torch.equal(block.weight, before)


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
