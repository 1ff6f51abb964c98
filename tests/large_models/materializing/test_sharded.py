"""Parts of a module in 1, 2 and 4 processes of this machine. The checks themselves are in `shard_checks`."""

from __future__ import annotations

import pytest

from tests.module.torch_tools.gloo import Check, run

from .shard_checks import checks_of

# One worker starts the processes, once for each number of them.
pytestmark = pytest.mark.xdist_group("sharded")


FAILURES: dict[int, list[dict[str, str]]] = {}
"""What went wrong in each process, by the number of processes."""

CASES = [
    pytest.param(world, check, id=f"{check.__name__}-{world}") for world in (1, 2, 4) for check in checks_of(world)
]


@pytest.mark.parametrize(("world", "check"), CASES)
def test_parts_are_those_of_the_whole(world: int, check: Check, tmp_path_factory: pytest.TempPathFactory) -> None:
    if world not in FAILURES:
        folder = tmp_path_factory.mktemp("sharded")
        FAILURES[world] = run("tests.large_models.materializing.shard_checks", folder, world)
    found = [failed[check.__name__] for failed in FAILURES[world] if check.__name__ in failed]
    assert not found, "\n".join(found)
