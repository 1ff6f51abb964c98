"""Materializing a module takes little more memory than the module: of the allocator, and of a process of its own."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from torch import nn
from torch.profiler import ProfilerActivity, profile

from qten_gen import deferred_init, materialize_module
from tests import fresh_process

PROGRAM = """
import resource, sys
import torch
from torch import nn
from qten_gen import deferred_init, materialize_module, materialize_tensor

def make():
    size, depth = (3000, 6) if "large" in kind else (1000, 24)
    layers = nn.Sequential(*[nn.Linear(size, size) for _ in range(depth)])
    return layers.half() if "half" in kind else layers

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

how, kind = sys.argv[1:]
torch.set_num_threads(1)
materialize_module(deferred_init(lambda: nn.Linear(2, 2).half()))
start = peak()
model = make() if how == "eager" else deferred_init(make)
if how == "whole":
    materialize_module(model)
elif how == "part":
    materialize_tensor(model[20].weight)
print(peak() - start)
"""


def _peak(folder: Path, how: str, kind: str = "float") -> float:
    """The megabytes that a process needs at most beyond its start."""
    path = folder / "program.py"
    path.write_text(PROGRAM, encoding="utf-8")
    done = fresh_process.run(path, how, kind)
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


def _layers() -> nn.Sequential:
    return nn.Sequential(*[nn.Linear(100, 100) for _ in range(60)])


def _copies() -> nn.Sequential:
    layer = nn.Linear(100, 100)
    return nn.Sequential(*[copy.deepcopy(layer) for _ in range(60)])


MODULES: dict[str, Callable[[], nn.Module]] = {
    "layers": _layers,
    "half": lambda: _layers().half(),
    "bfloat16": lambda: _layers().bfloat16(),
    "copies": _copies,
}


@pytest.mark.parametrize("name", MODULES)
def test_at_no_time_more_is_allocated_than_the_module_and_a_twentieth(name: str) -> None:
    module = deferred_init(MODULES[name])
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        materialize_module(module)
    # pyright knows neither these results nor what they consist of.
    events = cast("Any", profiler.profiler).kineto_results.events()
    held = most = 0
    for event in sorted((each for each in events if each.name() == "[memory]"), key=lambda each: each.start_ns()):
        held += event.nbytes()
        most = max(most, held)
    assert most <= 1.05 * sum(parameter.nbytes for parameter in module.parameters())


def test_a_process_needs_at_most_a_twentieth_more_than_one_of_eager_code(tmp_path: Path) -> None:
    assert _peak(tmp_path, "whole") <= 1.05 * _peak(tmp_path, "eager")


def test_a_cast_of_a_whole_module_is_carried_out_tensor_by_tensor(tmp_path: Path) -> None:
    """Eager code has all of it as float32 before the first tensor is half. Each tensor is large enough for memory of its own."""
    assert _peak(tmp_path, "whole", "large half") <= 0.72 * _peak(tmp_path, "eager", "large")


def test_a_deferred_module_needs_next_to_nothing_and_a_part_little(tmp_path: Path) -> None:
    """The module has 96 MB, and each of its weights 4 MB."""
    assert _peak(tmp_path, "recorded") < 10
    assert _peak(tmp_path, "part") < 20
