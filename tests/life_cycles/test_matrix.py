"""Twelve life cycles, and what must be true of a declared model after each: a cell for each pair."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch.distributed

from tests.module.torch_tools.gloo import run

from . import distributed
from .cycles import CYCLES, NEEDS
from .models import INVARIANTS, broken

Broken = dict[str, list[str]]

quiet = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Broken]:
    """What is wrong after a life cycle, which runs once."""

    @cache
    def of(name: str) -> Broken:
        if name in NEEDS and find_spec(NEEDS[name]) is None:
            pytest.skip(f"{NEEDS[name]} is not installed")
        return broken(CYCLES[name](tmp_path_factory.mktemp("cycle")))

    return of


@quiet
@pytest.mark.parametrize("invariant", INVARIANTS)
@pytest.mark.parametrize("name", CYCLES)
def test_it_holds_in_one_process(name: str, invariant: str, found: Callable[[str], Broken]) -> None:
    assert found(name)[invariant] == []


def by_process(world: int, folder: Path) -> dict[str, list[Broken]]:
    """What is wrong after each life cycle of several processes, in each of them."""
    failures = run("tests.life_cycles.distributed", folder, world)
    assert not any(failures), "\n".join(text for failed in failures for text in failed.values())
    return {
        name: [json.loads((folder / f"{name}-{rank}.json").read_text(encoding="utf-8")) for rank in range(world)]
        for name in distributed.CYCLES
    }


@pytest.fixture(scope="module")
def found_by_world(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], dict[str, list[Broken]]]:
    """The same by the number of processes, each tried once."""
    return cache(lambda world: by_process(world, tmp_path_factory.mktemp(f"world{world}")))


@pytest.mark.xdist_group("distributed")
@pytest.mark.skipif(not torch.distributed.is_available(), reason="this build of torch has no torch.distributed")
@pytest.mark.parametrize("world", [1, 2])
@pytest.mark.parametrize("invariant", INVARIANTS)
@pytest.mark.parametrize("name", distributed.CYCLES)
def test_it_holds_in_each_process(
    name: str, invariant: str, world: int, found_by_world: Callable[[int], dict[str, list[Broken]]]
) -> None:
    assert [each[invariant] for each in found_by_world(world)[name]] == [[]] * world
