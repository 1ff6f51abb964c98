"""Deferring a module takes next to no memory, and materializing it little more than the module."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, cast

import pytest
from torch import nn
from torch.profiler import ProfilerActivity, profile

from qten_gen import deferred_init, materialize_module


def _layers() -> nn.Sequential:
    return nn.Sequential(*[nn.Linear(100, 100) for _ in range(60)])


def _copies() -> nn.Sequential:
    layer = nn.Linear(100, 100)
    return nn.Sequential(*[copy.deepcopy(layer) for _ in range(60)])


def _most_allocated(call: Callable[[], object]) -> int:
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        call()
    # pyright knows neither these results nor what they consist of.
    events = cast("Any", profiler.profiler).kineto_results.events()
    held = most = 0
    for event in sorted((each for each in events if each.name() == "[memory]"), key=lambda each: each.start_ns()):
        held += event.nbytes()
        most = max(most, held)
    return most


MODULES: list[Callable[[], nn.Sequential]] = [_layers, _copies, lambda: _layers().half(), lambda: _layers().bfloat16()]


@pytest.mark.parametrize("make", MODULES, ids=["layers", "copies", "half", "bfloat16"])
def test_at_no_time_more_is_allocated_than_the_module_and_a_twentieth(make: Callable[[], nn.Sequential]) -> None:
    made: list[nn.Sequential] = []
    assert _most_allocated(lambda: made.append(deferred_init(make))) < 100_000
    (module,) = made
    size = sum(parameter.nbytes for parameter in module.parameters())
    assert _most_allocated(lambda: materialize_module(deferred_init(make)[5])) <= 5 * size / 60
    assert _most_allocated(lambda: materialize_module(module)) <= 1.05 * size
