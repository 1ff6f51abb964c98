"""Deferred initialization against eager construction: CPU time and peak memory, each measurement in a process of its own.

python -m benchmarks.deferred            the models that need torch alone
python -m benchmarks.deferred --llama    a Llama of 155 million parameters too, which needs transformers
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from statistics import median
from time import process_time

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

from qten_gen import deferred_init, materialize_module

MODELS: dict[str, Callable[[], nn.Module]] = {
    "nn.Linear(8, 8)": lambda: nn.Linear(8, 8),
    "20 x nn.Linear(8, 8)": lambda: nn.Sequential(*[nn.Linear(8, 8) for _ in range(20)]),
    "6 x nn.TransformerEncoderLayer(64, 4)": lambda: nn.Sequential(
        *[nn.TransformerEncoderLayer(64, 4) for _ in range(6)]
    ),
    "nn.Transformer()": lambda: nn.Transformer(batch_first=True),
    "20 layers in half precision": lambda: nn.Sequential(*[nn.Linear(2000, 2000) for _ in range(20)]).half(),
}


def llama() -> nn.Module:
    """A Llama of 155 million parameters."""
    transformers = import_module("transformers")  # pyright would read all its models for an import statement
    config = transformers.LlamaConfig(
        hidden_size=768, num_hidden_layers=12, num_attention_heads=12, intermediate_size=3072, vocab_size=30000
    )
    model: nn.Module = transformers.LlamaForCausalLM(config)
    return model


def peak() -> float:
    """The most memory that this process has had, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(make: Callable[[], nn.Module], how: str) -> dict[str, float]:
    """Seconds and megabytes of eager construction, or of recording and replay."""
    torch.set_num_threads(1)
    materialize_module(deferred_init(lambda: nn.Linear(2, 2).half()))
    start, began = peak(), process_time()
    if how == "eager":
        make()
        return {"seconds": process_time() - began, "megabytes": peak() - start}
    if how == "fake":
        return {"seconds": warm_least(lambda: in_fake_mode(make))}
    if how == "warm":
        return {"seconds": warm_least(lambda: deferred_init(make))}
    model = deferred_init(make)
    recorded, recorded_peak = process_time() - began, peak() - start
    materialize_module(model)
    return {
        "record": recorded,
        "recorded megabytes": recorded_peak,
        "replay": process_time() - began - recorded,
        "megabytes": peak() - start,
    }


def in_fake_mode(make: Callable[[], nn.Module]) -> nn.Module:
    """A module of torch's own fake tensors. torch can neither copy nor convert them in place."""
    with FakeTensorMode():
        return make()


def warm_least(make: Callable[[], nn.Module]) -> float:
    """The least of the seconds that ten calls take."""
    found = []
    for _ in range(10):
        began = process_time()
        make()
        found.append(process_time() - began)
    return min(found)


def in_processes(name: str, how: str, rounds: int) -> dict[str, float]:
    """The median of measurements, each in a process of its own."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.deferred", "--measure", name, how]
    found = [
        json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
        for _ in range(rounds)
    ]
    return {key: median(single[key] for single in found) for key in found[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--llama", action="store_true", help="measure a Llama too")
    parser.add_argument("--rounds", type=int, default=3, help="processes for each measurement")
    parser.add_argument("--measure", nargs=2, metavar=("MODEL", "HOW"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    models = {**MODELS, "Llama, 155 million parameters": llama}
    if arguments.measure:
        name, how = arguments.measure
        print(json.dumps(measure(models[name], how)))
        return
    print(
        "| model | eager | record | replay | peak, eager | peak, recorded | peak, replayed |\n|---|---|---|---|---|---|---|"
    )
    for name in models if arguments.llama else MODELS:
        eager = in_processes(name, "eager", arguments.rounds)
        deferred = in_processes(name, "deferred", arguments.rounds)
        times = [f"{1000 * seconds:.1f} ms" for seconds in (eager["seconds"], deferred["record"], deferred["replay"])]
        sizes = [eager["megabytes"], deferred["recorded megabytes"], deferred["megabytes"]]
        print(f"| {name} | {' | '.join(times)} | {' | '.join(f'{size:.0f} MB' for size in sizes)} |")
    for name in ("20 x nn.Linear(8, 8)", "6 x nn.TransformerEncoderLayer(64, 4)"):
        warm, fake = (in_processes(name, how, arguments.rounds)["seconds"] for how in ("warm", "fake"))
        print(
            f"{name}: recording takes {warm / fake:.2f} times the time of FakeTensorMode alone ({1000 * fake:.1f} ms)"
        )


if __name__ == "__main__":
    main()
