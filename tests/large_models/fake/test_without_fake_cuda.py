"""CUDA devices outside of a context with fake CUDA: none, unless a tensor is there already."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from qten_gen import fake_mode, is_fake

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without CUDA")

ASKING: dict[str, Callable[[Tensor], object]] = {
    "factory": lambda x: torch.ones(2, device="cuda"),
    "to": lambda x: x.to("cuda"),
    "cuda": lambda x: x.cuda(),
    "like": lambda x: torch.zeros_like(x, device="cuda:1"),
    "module": lambda x: nn.Linear(2, 2).cuda(),
}


@pytest.mark.parametrize("ask", ASKING.values(), ids=ASKING.keys())
def test_a_device_that_does_not_exist_needs_fake_cuda(ask: Callable[[Tensor], object]) -> None:
    with fake_mode(), pytest.raises(RuntimeError, match=r"got cuda:\d: .* enter fake_mode\(fake_cuda=True\)"):
        ask(torch.ones(2))


def test_a_context_inside_of_one_with_fake_cuda_has_it() -> None:
    with fake_mode(fake_cuda=True):
        with fake_mode():
            assert torch.ones(2, device="cuda").is_cuda
        assert torch.ones(2, device="cuda").is_cuda
    with fake_mode(), pytest.raises(RuntimeError, match="fake_cuda=True"):
        torch.ones(2, device="cuda")


def test_tensors_on_it_work_after_the_context() -> None:
    with fake_mode(fake_cuda=True):
        x, layer = torch.ones(2, device="cuda:1"), nn.Linear(2, 2, device="cuda:1")
    out = layer(x)
    out.sum().backward()
    for tensor in (out, x + 1, torch.zeros_like(x), x.new_zeros(3), x.new_tensor([1.0]), layer.weight.grad):
        assert tensor is not None and tensor.device == torch.device("cuda", 1) and is_fake(tensor)
    assert x.to("cuda:0").device == torch.device("cuda", 0)
    assert x.cpu().device == torch.device("cpu")
    with pytest.raises(RuntimeError, match="fake_cuda=True"):
        x.cpu().cuda()
    assert {p.device for p in layer.to("cuda:0").parameters()} == {torch.device("cuda", 0)}
