"""Distributed tools, on two processes of this machine. The checks themselves are in `two_processes`."""

from __future__ import annotations

import pytest
import torch.distributed

from .gloo import Check, run
from .two_processes import CHECKS

# One worker starts the processes, once.
pytestmark = [
    pytest.mark.xdist_group("distributed"),
    pytest.mark.skipif(not torch.distributed.is_available(), reason="this build of torch has no torch.distributed"),
]


@pytest.fixture(scope="module")
def failures(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, str]]:
    """What went wrong, for each process."""
    return run("tests.module.torch_tools.two_processes", tmp_path_factory.mktemp("distributed"))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_declared_module_does_what_the_plain_one_does(check: Check, failures: list[dict[str, str]]) -> None:
    found = [failed[check.__name__] for failed in failures if check.__name__ in failed]
    assert not found, "\n".join(found)
