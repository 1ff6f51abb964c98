"""Twelve life cycles, and what must be true of a declared model after each: a cell for each pair."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch.distributed

from tests.module.torch_tools.gloo import run

from . import distributed
from .cycles import CYCLES, NEEDS, accelerated
from .models import COLUMNS, DTYPES, broken

Broken = dict[str, list[str]]

in_processes = pytest.mark.skipif(
    not torch.distributed.is_available(), reason="this build of torch has no torch.distributed"
)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, torch.dtype], Broken]:
    """What is wrong after a life cycle in a dtype, which runs once."""

    @cache
    def of(name: str, dtype: torch.dtype) -> Broken:
        if name in NEEDS and find_spec(NEEDS[name]) is None:
            pytest.skip(f"{NEEDS[name]} is not installed")
        return broken(CYCLES[name](tmp_path_factory.mktemp("cycle"), dtype), dtype)

    return of


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("invariant", COLUMNS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CYCLES)
def test_it_holds_in_one_process(
    name: str, dtype: torch.dtype, invariant: str, found: Callable[[str, torch.dtype], Broken]
) -> None:
    assert found(name, dtype)[invariant] == []


@pytest.mark.filterwarnings("ignore")
def test_accelerate_casts_what_it_loads_where_it_is_told_a_dtype(tmp_path: Path) -> None:
    """Past every method of the module. Told none, as in the matrix, it takes the dtypes of the model on meta."""
    pytest.importorskip("accelerate")
    found = broken(accelerated(tmp_path, torch.bfloat16, told=torch.bfloat16), torch.bfloat16)
    assert found["dtypes"] == [f"blocks.{number}.router.weight is torch.bfloat16" for number in range(2)]


def failures(world: int, folder: Path) -> dict[str, str]:
    """The tracebacks of the cells and other checks that fail in a number of processes, by their names."""
    found = run("tests.life_cycles.distributed", folder, world)
    return {name: text for failed in found for name, text in failed.items()}


@pytest.fixture(scope="module")
def failures_by_world(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], dict[str, str]]:
    """The same, each number tried once."""
    return cache(lambda world: failures(world, tmp_path_factory.mktemp(f"world{world}")))


@in_processes
@pytest.mark.xdist_group("distributed")
@pytest.mark.parametrize("world", [1, 2])
@pytest.mark.parametrize("check", [each.__name__ for each in distributed.CHECKS])
def test_it_holds_in_each_process(check: str, world: int, failures_by_world: Callable[[int], dict[str, str]]) -> None:
    found = failures_by_world(world)
    assert check not in found, found[check]
