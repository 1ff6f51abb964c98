"""The start of a Llama of 1.5 billion parameters in two processes of this machine, each of which holds half of every tensor.

Three ways: `materialize` of a module on meta to which `fully_shard` was applied; `to_empty` and drawing into DTensors, as
torchtitan does; and drawing whole tensors, one by one, for `distribute_tensor` to cut.
Each process says how long it took, and how much memory it used at most beyond what it had before.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter, process_time

import torch
from torch import Tensor, nn

from qten_gen import Module, ModuleList, buffer, param, submodule

WORLD = 2

SIZES = {"vocab": 50_304, "dim": 2_048, "hidden": 5_632, "depth": 26}
"""1.54 billion parameters."""

SMALL = {"vocab": 503, "dim": 64, "hidden": 96, "depth": 2}


class Attention(Module):
    """Projections without biases."""

    dim: int
    layer: int
    query: nn.Linear = submodule(nn.Linear, "dim", "dim", bias=False)
    key: nn.Linear = submodule(nn.Linear, "dim", "dim", bias=False)
    value: nn.Linear = submodule(nn.Linear, "dim", "dim", bias=False)
    out: nn.Parameter = param("dim", "dim", initializer="scaled")

    def scaled(self, tensor: Tensor) -> None:
        nn.init.normal_(tensor, std=0.02 / (2 * (self.layer + 1)) ** 0.5)


class Layer(Module):
    """Attention and a gated feed-forward layer."""

    dim: int
    hidden: int
    layer: int
    attention: Attention = submodule(Attention, "dim", "layer")
    gate: nn.Linear = submodule(nn.Linear, "dim", "hidden", bias=False)
    up: nn.Linear = submodule(nn.Linear, "dim", "hidden", bias=False)
    down: nn.Linear = submodule(nn.Linear, "hidden", "dim", bias=False)
    before: nn.RMSNorm = submodule(nn.RMSNorm, "dim")
    between: nn.RMSNorm = submodule(nn.RMSNorm, "dim")


class Llama(Module):
    """The tensors of a Llama; it has no forward."""

    vocab: int
    dim: int
    hidden: int
    depth: int
    embed: nn.Embedding = submodule(nn.Embedding, "vocab", "dim")
    layers: ModuleList[Layer] = submodule(Layer, "dim", "hidden", layer="index", repeat="depth")
    norm: nn.RMSNorm = submodule(nn.RMSNorm, "dim")
    head: nn.Linear = submodule(nn.Linear, "dim", "vocab", bias=False)
    frequencies: Tensor = buffer("dim // 2", persistent=False, initializer=nn.init.ones_)


@dataclass(frozen=True)
class Start:
    """What the start of a model took in one process: seconds, of which the process computed for `cpu`, and bytes."""

    seconds: float
    cpu: float
    peak: int
    held: int


def sharded_on_meta(sizes: Mapping[str, int]) -> Llama:
    """A model that has no values, of DTensors."""
    from torch.distributed.fsdp import fully_shard

    model = Llama.on_meta(**sizes, dtype=torch.bfloat16)
    for layer in model.layers:
        fully_shard(layer)
    fully_shard(model)
    return model


def by_materialize(sizes: Mapping[str, int]) -> list[Tensor]:
    """Each process makes its half."""
    return list(sharded_on_meta(sizes).materialize("cpu", seed=0).parameters())


def by_to_empty(sizes: Mapping[str, int]) -> list[Tensor]:
    """Each process draws into its half: on the CPU, numbers that have nothing to do with those of one process."""
    made: list[Tensor] = list(sharded_on_meta(sizes).to_empty(device="cpu").parameters())
    with torch.no_grad():
        for parameter in made:
            nn.init.normal_(parameter, std=0.02) if parameter.dim() > 1 else nn.init.ones_(parameter)
    return made


def by_distribute_tensor(sizes: Mapping[str, int]) -> list[Tensor]:
    """Each process makes every tensor whole, and keeps half of it."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Shard, distribute_tensor

    mesh = init_device_mesh("cpu", (torch.distributed.get_world_size(),))
    model = Llama.on_meta(**sizes, dtype=torch.bfloat16)
    made: list[Tensor] = []
    for parameter in model.parameters():
        values = torch.empty(parameter.shape, dtype=parameter.dtype)
        with torch.no_grad():
            nn.init.normal_(values, std=0.02) if values.dim() > 1 else nn.init.ones_(values)
        made.append(nn.Parameter(distribute_tensor(values, mesh, [Shard(0)])))
    return made


WAYS: dict[str, Callable[[Mapping[str, int]], list[Tensor]]] = {
    "materialize": by_materialize,
    "to_empty": by_to_empty,
    "distribute_tensor": by_distribute_tensor,
}


def measured(way: str, sizes: Mapping[str, int]) -> Start:
    """What a way takes in this process, one of those that are connected."""
    WAYS[way](SMALL)  # loads what is loaded at the first use
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # forgets the highest use so far
    start, cpu = perf_counter(), process_time()
    made = WAYS[way](sizes)
    seconds, cpu = perf_counter() - start, process_time() - cpu
    held = sum(each.to_local().untyped_storage().nbytes() for each in made)  # type: ignore[attr-defined] # DTensors
    return Start(seconds, cpu, _status("VmHWM") - before, held)


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def in_processes(way: str, sizes: Mapping[str, int], world: int = WORLD) -> list[Start]:
    """What a way takes in each of `world` processes."""
    environment = os.environ | {"GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    environment["MALLOC_MMAP_THRESHOLD_"] = "1000000"  # so that glibc gives back what is freed
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-W", "ignore", "-m", "benchmarks.sharded", "--way", way, "--folder", folder]
        command += ["--sizes", json.dumps(dict(sizes)), "--world", str(world)]
        ranks = range(world)
        running = [subprocess.Popen([*command, "--rank", str(rank)], env=environment) for rank in ranks]
        failed = [process.wait() for process in running]
        assert not any(failed), f"{way} failed"
        return [Start(**json.loads(Path(folder, f"{rank}.json").read_text(encoding="utf-8"))) for rank in ranks]


def table(results: Mapping[str, list[Start]]) -> str:
    """One line for each way, with the slower and larger of the processes."""
    lines = [f"{'':18}{'seconds':>9}{'cpu':>9}{'held':>10}{'peak':>10}{'beside':>10}"]
    for way, starts in results.items():
        columns = ("seconds", "cpu", "held", "peak")
        seconds, cpu, held, peak = (max(getattr(start, name) for start in starts) for name in columns)
        sizes = "".join(f"{size / 1e6:>7.0f} MB" for size in (held, peak, peak - held))
        lines.append(f"{way:18}{seconds:>9.1f}{cpu:>9.1f}{sizes}")
    return "\n".join(lines)


def main() -> None:
    """Measure the ways, or be one of the processes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="a model of a few hundred thousand parameters")
    parser.add_argument("--way", choices=list(WAYS), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--sizes", type=json.loads, help=argparse.SUPPRESS)
    parser.add_argument("--world", type=int, default=WORLD, help=argparse.SUPPRESS)
    parser.add_argument("--rank", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.way is None:
        sizes = SMALL if given.small else SIZES
        print(table({way: in_processes(way, sizes) for way in WAYS}))
        return
    store = f"file://{given.folder}/store"
    torch.distributed.init_process_group("gloo", init_method=store, rank=given.rank, world_size=given.world)
    found = measured(given.way, given.sizes)
    (given.folder / f"{given.rank}.json").write_text(json.dumps(asdict(found)), encoding="utf-8")
    torch.distributed.barrier()
    sys.stdout.flush()
    os._exit(0)  # the groups that meshes made keep threads


if __name__ == "__main__":
    main()
