"""The pairs, new ones for each test."""

import pytest

from .pairs import MAKERS, Pair, block, tower


@pytest.fixture(params=MAKERS, ids=lambda make: make.__name__)
def pair(request: pytest.FixtureRequest) -> Pair:
    """A declared and a plain module with equal weights: virtual tensors, then declared children, then a handler."""
    made: Pair = request.param()
    return made


@pytest.fixture(params=[block, tower], ids=lambda make: make.__name__)
def tensor_pair(request: pytest.FixtureRequest) -> Pair:
    """Those pairs that are called with a tensor, for tools that know no other input."""
    made: Pair = request.param()
    return made
