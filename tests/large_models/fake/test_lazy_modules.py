"""Lazy modules in fake mode: without sizes until their first call, and fake from then on."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from qten_gen import fake_mode, is_fake


def lazy() -> nn.Sequential:
    return nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyBatchNorm2d(), nn.Flatten(), nn.LazyLinear(2))


def test_a_lazy_module_gets_its_sizes_from_its_first_call() -> None:
    real = lazy()
    expected = real(torch.ones(2, 3, 8, 8))
    with fake_mode():
        model = lazy()
        weight = model[0].weight
        assert isinstance(weight, nn.UninitializedParameter)
        made = model(torch.ones(2, 3, 8, 8))
        made.sum().backward()
    assert model[0].weight is weight
    assert isinstance(weight, nn.Parameter)
    assert made.shape == expected.shape
    assert [type(module) for module in model] == [type(module) for module in real]
    for (name, fake), (other, tensor) in zip(model.state_dict().items(), real.state_dict().items(), strict=True):
        assert is_fake(fake)
        assert (name, fake.shape, fake.dtype) == (other, tensor.shape, tensor.dtype)
    assert weight.grad is not None
    assert is_fake(weight.grad)


def test_it_can_be_cast_copied_and_loaded_before_it_has_sizes() -> None:
    with fake_mode():
        model = copy.deepcopy(nn.LazyLinear(3).to(torch.float64))
        model.load_state_dict(nn.Linear(5, 3).state_dict())
        assert (model.weight.shape, model.weight.dtype) == ((3, 5), torch.float64)
        assert is_fake(model.weight)


def test_it_moves_to_fake_cuda_after_its_first_call() -> None:
    with fake_mode(fake_cuda=True):
        model = nn.LazyLinear(3)
        model(torch.ones(2, 5))
        assert str(model.cuda()(torch.ones(2, 5, device="cuda")).device) == "cuda:0"


@pytest.mark.parametrize("how", ["device", "cuda", "to"])
def test_without_sizes_it_cannot_be_on_a_device_that_does_not_exist(how: str) -> None:
    with fake_mode(fake_cuda=True), pytest.raises(RuntimeError, match="call it once, and move it then"):
        if how == "device":
            nn.LazyLinear(3, device="cuda")
        elif how == "cuda":
            nn.LazyLinear(3).cuda()
        else:
            nn.LazyLinear(3).to("cuda:1")
