"""Every test here is marked `gpu`, and skipped where there is none."""

from pathlib import Path

import pytest
import torch

from tests.module.torch_tools.pairs import MAKERS, Pair

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    absent = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.gpu)
            item.add_marker(absent)


@pytest.fixture(params=MAKERS, ids=lambda make: make.__name__)
def pair(request: pytest.FixtureRequest) -> Pair:
    """A declared and a plain module with equal weights, on the CPU."""
    made: Pair = request.param()
    return made
