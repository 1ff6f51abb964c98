"""Collective operations, on two processes of this machine. The checks themselves are in `two_processes`."""

from __future__ import annotations

from typing import Any

import pytest
import torch.distributed
from torch.nn.parallel.scatter_gather import scatter

from tests.module.torch_tools.gloo import Check, run
from tests.tensorclass.declared import flat

from .two_processes import CHECKS

# One worker starts the processes, once.
pytestmark = [
    pytest.mark.xdist_group("distributed objects"),
    pytest.mark.skipif(not torch.distributed.is_available(), reason="this build of torch has no torch.distributed"),
]


@pytest.fixture(scope="module")
def failures(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, str]]:
    """What went wrong, for each process."""
    return run("tests.tensorclass.processes.two_processes", tmp_path_factory.mktemp("distributed"))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_between_two_processes(check: Check, failures: list[dict[str, str]]) -> None:
    found = [failed[check.__name__] for failed in failures if check.__name__ in failed]
    assert not found, "\n".join(found)


def test_without_a_process_group_an_error_says_what_to_call() -> None:
    with pytest.raises(RuntimeError, match=r"all_gather: call torch\.distributed\.init_process_group first"):
        flat(4).all_gather()


def test_data_parallel_does_not_divide_objects() -> None:
    value: Any = flat(4)
    assert all(part is value for part in scatter(value, [0, 1]))
