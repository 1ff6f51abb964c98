"""Every test here runs twice: on CUDA, marked `gpu` and skipped where there is none, and on fake CUDA devices."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from qten_gen import fake_mode
from tests.module.torch_tools.pairs import MAKERS, Pair

ON_CUDA = pytest.param(
    "cuda",
    marks=[pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")],
)


@pytest.fixture(autouse=True, params=[ON_CUDA, "fake"])
def cuda(request: pytest.FixtureRequest) -> Iterator[bool]:
    """Whether tensors are fake. Comes first: what other fixtures make is made with it."""
    if request.param == "cuda":
        yield False
        return
    with fake_mode(fake_cuda=True):
        yield True


@pytest.fixture(params=MAKERS, ids=lambda make: make.__name__)
def pair(request: pytest.FixtureRequest, cuda: bool) -> Pair:
    """A declared and a plain module on the CPU."""
    made: Pair = request.param()
    return made
