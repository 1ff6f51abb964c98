"""Modules on a GPU: what they compute, compiled code, training. tests/devices has what needs no numbers."""

from __future__ import annotations

import copy
import io
import pickle

import pytest
import torch
from torch import Tensor, nn
from torch.nn.parallel import replicate

from tests.module.torch_tools.pairs import Block, Input, Pair, agree, blocks, fill, rows, state, train

GPU = "cuda:0"


def shown(module: nn.Module) -> list[Tensor]:
    """What the attributes of the blocks show, virtual tensors of declared ones included."""
    found = [tensor for block in blocks(module) for tensor in (block.weight, block.shift, block.scale, block.noise)]
    return [*found, *(block.causal for block in blocks(module) if isinstance(block, Block))]


def on_gpu(input: Input) -> Input:
    return input.to(GPU)


@pytest.mark.parametrize("fused", [False, True])
def test_it_trains_as_a_plain_module_does(pair: Pair, fused: bool) -> None:
    input = on_gpu(pair.input)

    def run(module: nn.Module) -> list[Tensor]:
        module.cuda()
        return train(module, input, torch.optim.AdamW(module.parameters(), lr=0.01, fused=fused))

    agree(pair, run)


def test_autocast_and_a_gradient_scaler(pair: Pair) -> None:
    input = on_gpu(pair.input)

    def run(module: nn.Module) -> list[Tensor]:
        module.cuda()
        optimiser = torch.optim.SGD(module.parameters(), lr=0.01)
        scaler = torch.amp.GradScaler("cuda")
        for _ in range(2):
            optimiser.zero_grad()
            with torch.autocast("cuda", torch.float16):
                loss = module(input).square().mean()
            scaler.scale(loss).backward()
            scaler.step(optimiser)
            scaler.update()
        return state(module)

    agree(pair, run)


def test_blocks_on_different_devices_compute_what_they_compute_on_one() -> None:
    first, second = Block(4), Block(4).cuda()
    fill(first)
    fill(second)
    alone = copy.deepcopy(second).cpu()
    torch.testing.assert_close(second(first(rows()).to(GPU)).cpu(), alone(first(rows())))
    assert torch.equal(second.causal.cpu(), alone.causal)


def test_replicas_compute_the_same(pair: Pair) -> None:
    """What DataParallel does, with one device standing for two."""
    input = on_gpu(pair.input)

    def run(module: nn.Module) -> list[Tensor]:
        first, second = replicate(module.cuda(), [0, 0])
        assert all(tensor.is_cuda for tensor in shown(second))
        (first(input) + second(input)).sum().backward()
        return [second(input), *(p.grad for p in module.parameters() if p.grad is not None)]

    agree(pair, run)


def test_data_parallel(pair: Pair) -> None:
    input = on_gpu(pair.input)

    def run(module: nn.Module) -> Tensor:
        out: Tensor = nn.DataParallel(module.cuda(), device_ids=[0])(input)
        return out

    agree(pair, run)


def test_a_checkpoint_changes_devices() -> None:
    block, file = Block(4, device=GPU), io.BytesIO()
    fill_on_gpu = torch.Generator(GPU).manual_seed(0)
    with torch.no_grad():
        block.weight.normal_(generator=fill_on_gpu)
    torch.save(block.state_dict(), file)
    file.seek(0)
    loaded = Block(4)
    loaded.load_state_dict(torch.load(file, map_location="cpu"))
    assert torch.equal(loaded.weight, block.weight.cpu())
    assert pickle.loads(pickle.dumps(block)).weight.is_cuda


@pytest.mark.filterwarnings("ignore")
def test_compiled_kernels_agree_with_those_of_a_plain_module(pair: Pair) -> None:
    input = on_gpu(pair.input)

    def run(module: nn.Module) -> list[Tensor]:
        torch._dynamo.reset()
        compiled = torch.compile(module.cuda(), fullgraph=True)
        out: Tensor = compiled(input)
        out.sum().backward()  # type: ignore[no-untyped-call] # torch gives it no types
        return [out, *(p.grad for p in module.parameters() if p.grad is not None)]

    agree(pair, run)


def test_a_cuda_graph_is_captured_and_replayed(pair: Pair) -> None:
    input = on_gpu(pair.input)

    @torch.no_grad()
    def run(module: nn.Module) -> Tensor:
        module.cuda()
        for _ in range(2):
            module(input)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out: Tensor = module(input)
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(out, module(input))
        return out.clone()

    agree(pair, run)
