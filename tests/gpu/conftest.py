"""Every test here is marked `gpu`, and skipped where there is none."""

import pytest
import torch

from tests.module.torch_tools.pairs import MAKERS, Pair


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    absent = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
    for item in items:
        if item.nodeid.startswith("tests/gpu/"):
            item.add_marker(pytest.mark.gpu)
            item.add_marker(absent)


@pytest.fixture(params=MAKERS, ids=lambda make: make.__name__)
def pair(request: pytest.FixtureRequest) -> Pair:
    """A declared and a plain module with equal weights, on the CPU."""
    made: Pair = request.param()
    return made
