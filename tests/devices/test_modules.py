"""Modules: every way to move one, blocks on two devices, and devices that differ."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from qten_gen import is_fake
from tests.module.torch_tools.pairs import Block, Pair, blocks, rows, state

GPU = "cuda:0"

MOVES: dict[str, Callable[[nn.Module], nn.Module]] = {
    "cuda": lambda module: module.cuda(),
    "to": lambda module: module.to(GPU),
    "to-both": lambda module: module.to(device=GPU, dtype=torch.float64),
    "to-tensor": lambda module: module.to(torch.empty(1, device=GPU)),
    "non-blocking": lambda module: module.to(GPU, non_blocking=True),
    "there-and-back": lambda module: module.cuda().cpu().cuda(),
    "to-empty": lambda module: module.to_empty(device=GPU),
    "apply": lambda module: module._apply(lambda tensor: tensor.to(GPU)),  # type: ignore[no-untyped-call] # untyped in torch
}


def shown(module: nn.Module) -> list[Tensor]:
    """What the attributes of the blocks show, virtual tensors of declared ones included."""
    found = [tensor for block in blocks(module) for tensor in (block.weight, block.shift, block.scale, block.noise)]
    return [*found, *(block.causal for block in blocks(module) if isinstance(block, Block))]


def where(tensors: list[Tensor]) -> set[str]:
    return {tensor.device.type for tensor in tensors}


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES.keys())
@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("swap", [False, True])
def test_a_move_reaches_every_attribute(
    pair: Pair, cuda: bool, move: Callable[[nn.Module], nn.Module], overwrite: bool, swap: bool
) -> None:
    future = torch.__future__
    before = future.get_overwrite_module_params_on_conversion(), future.get_swap_module_params_on_conversion()
    future.set_overwrite_module_params_on_conversion(overwrite)
    future.set_swap_module_params_on_conversion(swap)
    try:
        for module in pair.both:
            move(module)
            assert where([*state(module), *shown(module)]) == {"cuda"}
            assert {is_fake(tensor) for tensor in [*state(module), *shown(module)]} == {cuda}
    finally:
        future.set_overwrite_module_params_on_conversion(before[0])
        future.set_swap_module_params_on_conversion(before[1])


def test_a_module_is_made_on_the_device() -> None:
    made = Block(4, device=GPU, dtype=torch.float64)
    assert {(tensor.device.type, tensor.dtype) for tensor in [*state(made), *shown(made)]} == {("cuda", torch.float64)}
    with torch.device(GPU):
        made = Block(4)
    assert where([*state(made), *shown(made)]) == {"cuda"}


def test_a_cached_virtual_tensor_follows_to_each_device(cuda: bool) -> None:
    block = Block(4)
    here = block.causal
    there = block.cuda().causal
    assert there.is_cuda and not here.is_cuda
    assert (block.causal is there) is not cuda, "in fake mode nothing is kept"
    assert not block.cpu().causal.is_cuda
    assert block.half().causal.dtype == torch.float16


def test_blocks_on_different_devices() -> None:
    """A model cut in two: each block's tensors, virtual ones included, are where the block is."""
    first, second = Block(4), Block(4).cuda()
    out = second(first(rows()).to(GPU))
    out.sum().backward()  # type: ignore[no-untyped-call] # torch gives it no types
    assert where(shown(first)) == {"cpu"} and where(shown(second)) == {"cuda"}
    assert first.weight.grad is not None and not first.weight.grad.is_cuda
    assert second.weight.grad is not None and second.weight.grad.is_cuda
    assert not copy.deepcopy(second).cpu()(first(rows())).is_cuda
    assert second.weight.is_cuda
