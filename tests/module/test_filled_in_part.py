"""A declared tensor that the user's code fills in part is an error of the constructor."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Module, buffer, param

EXACT = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.complex64, torch.int64, torch.bool]


@pytest.mark.parametrize("dtype", EXACT)
@pytest.mark.parametrize("rows", [1, 2])
def test_an_initialiser_that_fills_a_part_is_an_error(dtype: torch.dtype, rows: int) -> None:
    class Net(Module):
        table: Tensor = buffer(3, 2, dtype=dtype, initializer=lambda tensor: tensor[:rows].data.fill_(1))

    message = rf"Net.table is initialised in part: nothing writes to {6 - 2 * rows} of its 6 elements"
    with pytest.raises(RuntimeError, match=message):
        Net()


@pytest.mark.parametrize("dtype", EXACT)
def test_a_part_of_a_large_tensor_is_found_too(dtype: torch.dtype) -> None:
    class Net(Module):
        table: Tensor = buffer(50, 20, dtype=dtype, initializer=lambda tensor: tensor[:49].fill_(1))

    with pytest.raises(RuntimeError, match="nothing writes to 20 of its 1000 elements"):
        Net()


def test_a_tensor_that_gets_other_memory_may_hold_anything() -> None:
    class Net(Module):
        table: Tensor = buffer(50, 20)

        def reset_parameters(self) -> None:
            self.table.data = torch.ones(50, 20)

    assert bool((Net().table == 1).all())


def test_a_reset_parameters_that_fills_a_part_is_an_error() -> None:
    class Net(Module):
        weight: nn.Parameter = param(3, 2, initializer=nn.init.ones_)

        def reset_parameters(self) -> None:
            nn.init.normal_(self.weight[1:])

    with pytest.raises(RuntimeError, match=r"nothing writes to 2 of its 6 elements"):
        Net()
