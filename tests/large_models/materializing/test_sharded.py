"""What `materialize` does in several processes that each hold a part, compared with what it does in one process.

All checks run in the same processes, 1, 2 and 4 of this machine; `python -m` on this module is one of them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import cache
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.distributed.tensor.placement_types import Placement

from qten_gen import Module, ModuleList, buffer, param, submodule
from qten_gen.large_models.materializing.materialize import MaterializeReport
from tests.module.torch_tools.gloo import Check, main, run

from .declared import Holding, tensors


class Layer(Module):
    """A feed-forward layer with initialisers that need the whole tensor and such that do not."""

    dim: int
    hidden: int
    up: nn.Linear = submodule(nn.Linear, "dim", "hidden")
    down: nn.Linear = submodule(nn.Linear, "hidden", "dim")
    mixing: nn.Parameter = param("dim", "dim", initializer=nn.init.orthogonal_)
    narrow: nn.Parameter = param("dim", "dim", initializer=lambda tensor: nn.init.trunc_normal_(tensor, std=0.5))
    table: Tensor = buffer(7, persistent=False, initializer=lambda tensor: tensor.copy_(torch.arange(7.0)))

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = x @ self.mixing + self.down(self.up(x).relu()) * self.narrow.mean() + self.table.sum()
        return result


class Net(Module):
    """Repeated layers between an embedding and its transpose; no size is a multiple of another."""

    vocab: int = 37
    dim: int = 12
    hidden: int = 30
    depth: int = 2
    embed: nn.Embedding = submodule(nn.Embedding, "vocab", "dim", padding_idx=3)
    layers: ModuleList[Layer] = submodule(Layer, "dim", "hidden", repeat="depth")
    norm: nn.LayerNorm = submodule(nn.LayerNorm, "dim")
    one: nn.Parameter = param(1, "dim", initializer=nn.init.normal_)
    head: nn.Parameter = param("vocab", "dim", tie="embed.weight")

    def forward(self, tokens: Tensor) -> Tensor:
        x: Tensor = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        result: Tensor = (self.norm(x) + self.one) @ self.head.t()
        return result


class Deep(Net):
    """With a tie by hand too."""

    out: nn.Linear = submodule(nn.Linear, "dim", "vocab", bias=False)

    def __post_init__(self) -> None:
        self.embed.weight = self.out.weight


def even() -> Net:
    """A module on meta whose sizes 1, 2 and 4 processes divide."""
    return Net.on_meta(vocab=40, dim=16, hidden=32)


def whole(tensor: Tensor) -> Tensor:
    """A tensor with the parts that other processes hold."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def assert_same(found: nn.Module, expected: nn.Module) -> None:
    """Every tensor is that of one process, bit for bit, put together from all parts."""
    ours, theirs = tensors(found), tensors(expected)
    assert ours.keys() == theirs.keys()
    for name, tensor in ours.items():
        torch.testing.assert_close(whole(tensor.detach()), theirs[name].detach(), rtol=0, atol=0, msg=name)
        assert tensor.requires_grad == theirs[name].requires_grad


@cache
def alone(seed: int = 1) -> Net:
    """What one process makes; not to be changed."""
    return Net.on_meta().materialize("cpu", seed=seed)


@cache
def even_alone() -> Net:
    """The same for even sizes."""
    return even().materialize("cpu", seed=1)


def line() -> DeviceMesh:
    """All processes in one dimension."""
    return init_device_mesh("cpu", (dist.get_world_size(),), mesh_dim_names=("data",))


def square() -> DeviceMesh:
    """All processes in two dimensions."""
    world = dist.get_world_size()
    shape = (2, world // 2) if world > 1 else (1, 1)
    return init_device_mesh("cpu", shape, mesh_dim_names=("data", "model"))


def sharded(net: Net, mesh: DeviceMesh) -> Net:
    """`fully_shard` of each layer, then of the rest."""
    for layer in net.layers:
        fully_shard(layer, mesh=mesh)
    fully_shard(net, mesh=mesh)
    return net


def placed(net: Net, mesh: DeviceMesh, placements: Mapping[str, Sequence[Placement]]) -> Net:
    """`distribute_tensor` of some tensors by their names."""
    for name, given in placements.items():
        path, _, key = name.rpartition(".")
        module = net.get_submodule(path)
        old = getattr(module, key)
        new = distribute_tensor(old.detach(), mesh, given)
        setattr(module, key, nn.Parameter(new) if isinstance(old, nn.Parameter) else new)
    return net


def trained(net: nn.Module, vocab: int) -> list[Tensor]:
    """Losses of three steps."""
    tokens = torch.arange(24).view(2, 12) % vocab
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        out = whole(net(tokens))
        loss = nn.functional.cross_entropy(out.flatten(0, 1), tokens.flatten())
        loss.backward()  # type: ignore[no-untyped-call] # torch gives it no types
        optimizer.step()
        losses.append(loss.detach())
    return losses


def fully_sharded(folder: Path) -> None:
    """Over all processes, and with replicas."""
    for mesh in (line(), square()):
        net = sharded(Net.on_meta(), mesh)
        assert all(isinstance(each, DTensor) and each.is_meta for each in net.parameters())
        assert net.materialize("cpu", seed=1) is net
        assert_same(net, alone())
        assert net.head is net.embed.weight
        torch.testing.assert_close(trained(net, 37), trained(deepcopy(alone()), 37))
        assert net.head is net.embed.weight
    half = sharded(Net.on_meta(), line()).materialize("cpu", seed=1, dtype=torch.bfloat16)
    assert_same(half, deepcopy(alone()).bfloat16())


def groups_of_modules_fully_sharded(folder: Path) -> None:
    net = Deep.on_meta()
    fully_shard([net.norm], mesh=line())
    assert_same(sharded(net, line()).materialize("cpu", seed=1), Deep.on_meta().materialize("cpu", seed=1))
    assert net.embed.weight is net.out.weight


def children_of_another_library(folder: Path) -> None:
    net = Holding.on_meta(6)
    for child in net.foreign:
        fully_shard(child, mesh=line())
    assert_same(net.materialize("cpu", seed=1), Holding.on_meta(6).materialize("cpu", seed=1))
    assert float(whole(net.foreign[0].get_parameter("layers.0.weight").detach()).abs().max()) < 0.1


def placed_by_hand(folder: Path) -> None:
    placements: dict[str, Sequence[Placement]] = {
        "layers.0.up.weight": [Shard(0)],
        "layers.0.mixing": [Shard(1)],
        "layers.0.table": [Shard(0)],
        "embed.weight": [Shard(1)],
        "one": [Shard(0)],
        "layers.1.down.bias": [Replicate()],
    }
    net = placed(Net.on_meta(), line(), placements).materialize("cpu", seed=1)
    assert_same(net, alone())
    assert net.head is net.embed.weight and not isinstance(net.norm.weight, DTensor)
    found = {name: list(each.placements) for name, each in tensors(net).items() if isinstance(each, DTensor)}
    assert found == {**placements, "head": [Shard(1)]}


def placed_in_two_dimensions(folder: Path) -> None:
    placements: dict[str, Sequence[Placement]] = {
        "layers.0.up.weight": [Shard(0), Replicate()],
        "layers.1.up.weight": [Shard(0), Shard(1)],
        "layers.1.mixing": [Shard(1), Shard(1)],
        "embed.weight": [Shard(0), Shard(0)],
    }
    net = placed(Net.on_meta(), square(), placements).materialize("cpu", seed=1)
    assert_same(net, alone())
    for each in map(net.get_parameter, placements):  # a part has its own memory alone
        assert isinstance(each, DTensor)
        assert each.to_local().untyped_storage().nbytes() == each.to_local().nbytes


def fully_sharded_and_tensor_parallel(folder: Path) -> None:
    mesh = square()
    net = even()
    for layer in net.layers:
        parallelize_module(layer, mesh["model"], {"up": ColwiseParallel(), "down": RowwiseParallel()})
        fully_shard(layer, mesh=mesh["data"])
    fully_shard(net, mesh=mesh["data"])
    net.materialize("cpu", seed=1)
    assert_same(net, even_alone())
    torch.testing.assert_close(trained(net, 40), trained(deepcopy(even_alone()), 40))


def refused(call: Callable[[], object]) -> None:
    """A call is an error, in this process too."""
    try:
        call()
    except ValueError as error:
        assert "the processes of a mesh do not have the same model; expected the same seed" in str(error), error
    else:
        raise AssertionError("a difference went unnoticed")


def one_seed_is_drawn_for_all_and_different_ones_are_refused(folder: Path) -> None:
    torch.manual_seed(dist.get_rank())
    net = sharded(Net.on_meta(), line())
    reports: list[MaterializeReport] = []
    net.materialize("cpu", report=reports.append)
    assert reports[0].seed is not None
    assert_same(net, alone(reports[0].seed))
    assert reports[0].sources["head"] == "tied to embed.weight"
    other = sharded(Net.on_meta(), line())
    refused(lambda: other.materialize("cpu", seed=dist.get_rank()))
    assert all(each.is_meta for each in other.parameters())


def other_models_are_refused_everywhere(folder: Path) -> None:
    """Of another width, dtype, placement or checkpoint."""
    rank = dist.get_rank()
    net = sharded(Net.on_meta(hidden=32 if rank else 30), line())
    refused(lambda: net.materialize("cpu", seed=1))
    assert all(each.is_meta for each in net.parameters())
    state = {"embed.weight": torch.full((37, 12), float(rank))}
    other = placed(Net.on_meta(), line(), {"one": [Shard(0) if rank else Replicate()]})
    refused(lambda: other.materialize("cpu", seed=1))
    net = sharded(Net.on_meta(), line())
    refused(lambda: net.materialize("cpu", seed=1, dtype=torch.bfloat16 if rank else None))
    refused(lambda: net.materialize("cpu", seed=1, state_dict=state))


def loaded_from_safetensors(folder: Path) -> None:
    """A partial checkpoint: the rest is initialised as without one."""
    state = {name: each.contiguous() for name, each in alone(2).state_dict().items() if "layers.0" in name}
    path = folder / "some.safetensors"
    if dist.get_rank() == 0:
        save_file(state, path)
    dist.barrier()
    net = sharded(Net.on_meta(), line()).materialize("cpu", seed=1, state_dict=path)
    expected = deepcopy(alone())
    expected.load_state_dict(state, strict=False)
    assert_same(net, expected)


def loaded_from_tensors_in_memory(folder: Path) -> None:
    """DTensors of the same parts, DTensors of other parts, and plain tensors."""
    expected = alone(2)
    other = sharded(Net.on_meta(), line()).materialize("cpu", seed=2)
    state = other.state_dict()
    assert_same(sharded(Net.on_meta(), line()).materialize("cpu", seed=1, state_dict=state), expected)
    net = placed(Net.on_meta(), line(), {"embed.weight": [Shard(1)]})
    assert_same(net.materialize("cpu", seed=1, state_dict=state), expected)
    assert_same(Net.on_meta().materialize("cpu", seed=1, state_dict=state), expected)
    plain = expected.state_dict()
    assert_same(sharded(Net.on_meta(), line()).materialize("cpu", seed=1, state_dict=plain), expected)


CHECKS: Sequence[tuple[Check, Sequence[int]]] = (
    (fully_sharded, (1, 2, 4)),
    (groups_of_modules_fully_sharded, (2, 4)),
    (children_of_another_library, (1, 2, 4)),
    (placed_by_hand, (1, 2)),
    (placed_in_two_dimensions, (2, 4)),
    (fully_sharded_and_tensor_parallel, (2, 4)),
    (one_seed_is_drawn_for_all_and_different_ones_are_refused, (2,)),
    (other_models_are_refused_everywhere, (2, 4)),
    (loaded_from_safetensors, (2,)),
    (loaded_from_tensors_in_memory, (2,)),
)
"""Each check, and in how many processes it runs."""


# One worker starts the processes, once for each number of them.
pytestmark = pytest.mark.xdist_group("sharded")
FAILURES: dict[int, list[dict[str, str]]] = {}
"""What went wrong in each process, by the number of processes."""
CASES = [pytest.param(world, check, id=f"{check.__name__}-{world}") for check, worlds in CHECKS for world in worlds]


@pytest.mark.parametrize(("world", "check"), CASES)
def test_parts_are_those_of_the_whole(world: int, check: Check, tmp_path_factory: pytest.TempPathFactory) -> None:
    if world not in FAILURES:
        FAILURES[world] = run(
            "tests.large_models.materializing.test_sharded", tmp_path_factory.mktemp("sharded"), world
        )
    found = [failed[check.__name__] for failed in FAILURES[world] if check.__name__ in failed]
    assert not found, "\n".join(found)


if __name__ == "__main__":
    main([check for check, worlds in CHECKS if int(sys.argv[3]) in worlds])
