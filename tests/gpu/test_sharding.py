"""FSDP2 on one GPU, a process group of one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import CPUOffloadPolicy, MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor

from tests.module.torch_tools.pairs import Pair, agree, blocks

# Set up and taken down for the module, so one worker runs it.
pytestmark = [pytest.mark.xdist_group("nccl"), pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module", autouse=True)
def group(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One process that talks to itself; they meet in a file, so no port is taken for it."""
    store: Path = tmp_path_factory.mktemp("nccl") / "store"
    torch.cuda.set_device(0)
    dist.init_process_group("cpu:gloo,cuda:nccl", init_method=f"file://{store}", rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def trained(module: nn.Module, pair: Pair) -> list[Tensor]:
    """What two steps leave, whole."""
    optimiser = torch.optim.AdamW(module.parameters(), lr=0.01)
    for _ in range(2):
        optimiser.zero_grad()
        module(pair.input.to("cuda")).square().mean().backward()
        optimiser.step()
    return [p.full_tensor() if isinstance(p, DTensor) else p for p in module.parameters()]


def test_it_trains_sharded(pair: Pair) -> None:
    def run(module: nn.Module) -> list[Tensor]:
        mesh = init_device_mesh("cuda", (1,))
        for block in dict.fromkeys((*blocks(module), module)):
            fully_shard(block, mesh=mesh)
        found = trained(module, pair)
        whole = get_model_state_dict(module, options=StateDictOptions(full_state_dict=True))
        return [*found, *(value for value in whole.values() if isinstance(value, Tensor))]

    agree(pair, run)


def test_it_trains_in_lower_precision(pair: Pair) -> None:
    def run(module: nn.Module) -> list[Tensor]:
        policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
        mesh = init_device_mesh("cuda", (1,))
        # A block's buffers stay in float32, and so does its output: each block has its input cast, or torch's layers refuse it.
        for block in dict.fromkeys((*blocks(module), module)):
            fully_shard(block, mesh=mesh, mp_policy=policy)
        return trained(module, pair)

    agree(pair, run)


def test_it_trains_with_its_parameters_on_the_cpu(pair: Pair) -> None:
    def run(module: nn.Module) -> list[Tensor]:
        fully_shard(module, mesh=init_device_mesh("cuda", (1,)), offload_policy=CPUOffloadPolicy())
        for buffer_name, buffer in list(module.named_buffers()):
            owner, _, name = buffer_name.rpartition(".")
            module.get_submodule(owner)._buffers[name] = buffer.cuda()
        optimiser = torch.optim.AdamW(module.parameters(), lr=0.01)
        module(pair.input.to("cuda")).square().mean().backward()
        optimiser.step()
        return [p.full_tensor() if isinstance(p, DTensor) else p for p in module.parameters()]

    agree(pair, run)
