"""Distributed tools, each on a declared module and on a plain one, in two processes that talk over gloo.

All checks run in the same two processes; `python -m` on this module is one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.distributed.tensor import DTensor, Replicate, distribute_module, distribute_tensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.nn.parallel import DistributedDataParallel

from qten_gen import Module, param, submodule
from tests.module.derived import compare_everywhere, derived
from tests.module.torch_tools.gloo import WORLD, Check, main
from tests.module.torch_tools.pairs import MAKERS, Input, Pair, Step, agree, blocks, rows, tower


def whole(tensor: Tensor) -> Tensor:
    """A tensor with the parts that other processes hold."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def trained(module: nn.Module, input: Input, steps: int = 2) -> list[Tensor]:
    """What a few steps leave: results, gradients and weights, whole."""
    optimiser = torch.optim.AdamW(module.parameters(), lr=0.01)
    found: list[Tensor] = []
    for _ in range(steps):
        optimiser.zero_grad()
        out: Tensor = whole(module(input))
        out.square().mean().backward()  # type: ignore[no-untyped-call] # torch gives it no types
        optimiser.step()
        found.append(out)
    gradients = [parameter.grad for parameter in module.parameters() if parameter.grad is not None]
    return [whole(tensor).detach() for tensor in [*found, *gradients, *module.parameters()]]


def mine(input: Input) -> Input:
    """The input of this process: each has another."""
    return input * (1.0 + dist.get_rank())


def each_pair(step: Callable[[Pair], Step]) -> None:
    """Hold a step equal on every pair."""
    for make in MAKERS:
        pair = make()
        agree(pair, step(pair))


def distributed_data_parallel(folder: Path) -> None:
    each_pair(lambda pair: lambda module: trained(DistributedDataParallel(module), mine(pair.input)))


def sharded(module: nn.Module) -> nn.Module:
    """A module whose blocks, then itself, are sharded."""
    mesh = init_device_mesh("cpu", (WORLD,))
    for each in blocks(module):
        fully_shard(each, mesh=mesh)
    if not isinstance(module, FSDPModule):
        fully_shard(module, mesh=mesh)
    return module


def fully_sharded(folder: Path) -> None:
    each_pair(lambda pair: lambda module: trained(sharded(module), mine(pair.input)))


def tensor_parallel(folder: Path) -> None:
    """A plan by name: one projection by columns, one by rows."""
    plan = {
        "first.proj": ColwiseParallel(output_layouts=Replicate()),
        "second.proj": RowwiseParallel(input_layouts=Replicate()),
    }

    def run(module: nn.Module) -> list[Tensor]:
        made = parallelize_module(module, init_device_mesh("cpu", (WORLD,)), plan)
        assert all(isinstance(each.proj.weight, DTensor) for each in blocks(made))
        return trained(made, rows())

    agree(tower(), run)


def tensor_parallel_of_own_parameters(folder: Path) -> None:
    """A module's own parameters become distributed tensors by assignment, and its attributes show them."""
    mesh = init_device_mesh("cpu", (WORLD,))

    def distribute(name: str, module: nn.Module, mesh: DeviceMesh) -> None:
        for key, parameter in module.named_parameters(recurse=False):
            placed = distribute_tensor(parameter.detach(), mesh, [Replicate()])
            module.register_parameter(key, nn.Parameter(placed))
        for key, buffer in module.named_buffers(recurse=False):
            setattr(module, key, distribute_tensor(buffer, mesh, [Replicate()]))

    def run(module: nn.Module) -> list[Tensor]:
        made = distribute_module(module, mesh, distribute)
        assert all(isinstance(each.weight, DTensor) for each in blocks(made))
        return [whole(tensor) for tensor in made.state_dict().values()]

    agree(tower(), run)


def cached_values_while_sharded(folder: Path) -> None:
    """The weights are sharded, and whole while `forward` compares."""
    module = derived()
    fully_shard(module, mesh=init_device_mesh("cpu", (WORLD,)))
    optimiser = torch.optim.SGD(module.parameters(), lr=0.5)
    for _ in range(2):
        compare_everywhere(module)
        module(torch.ones(2, 3)).sum().backward()  # type: ignore[no-untyped-call] # torch gives it no types
        optimiser.step()
    compare_everywhere(module)


class Tied(Module):
    embed: nn.Embedding = submodule(nn.Embedding, 4, 4)
    head: nn.Parameter = param(tie="embed.weight")


def a_tie_that_is_sharded_apart_is_refused(folder: Path) -> None:
    module = Tied()
    fully_shard(module.embed)
    try:
        fully_shard(module)
    except RuntimeError as error:
        assert "Tied.head is tied to embed.weight, and fully_shard has one of the two alone" in str(error)
    else:
        raise AssertionError("not refused")


CHECKS: Sequence[Check] = (
    a_tie_that_is_sharded_apart_is_refused,
    distributed_data_parallel,
    fully_sharded,
    tensor_parallel,
    tensor_parallel_of_own_parameters,
    cached_values_while_sharded,
)


if __name__ == "__main__":
    main(CHECKS)
