"""`deferred_init` returns what the callable returns, and its arguments are checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_type

import torch
from torch import Tensor, nn

from qten_gen import Module, deferred_init, is_deferred, materialize_module, materialize_tensor, param


class Scale(Module):
    """A declared module."""

    dim: int
    weight: nn.Parameter = param("dim", initializer=nn.init.ones_)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight


def build(width: int, *, bias: bool = True) -> tuple[nn.Linear, str]:
    return nn.Linear(width, width, bias), "name"


assert_type(deferred_init(nn.Linear, 3, 4, bias=False), nn.Linear)
assert_type(deferred_init(build, 3, bias=False), tuple[nn.Linear, str])
assert_type(deferred_init(Scale, dim=3), Scale)
assert_type(deferred_init(lambda: torch.ones(3)), Tensor)

deferred_init(nn.Linear, 3)  # E
deferred_init(nn.Linear, 3, "4")  # E
deferred_init(nn.Linear, 3, 4, biased=True)  # E
deferred_init(build, 3, bias="no")  # E
deferred_init(Scale, dimension=3)  # E
deferred_init(3)  # E

linear = deferred_init(nn.Linear, 3, 4)
assert_type(is_deferred(linear), bool)
assert_type(materialize_tensor(linear.weight), Tensor)
keep: Callable[[nn.Module], bool] = lambda module: True  # noqa: E731
materialize_module(linear, buffers_only=True, check_fn=keep)
materialize_module(linear.weight)  # E
materialize_tensor(linear)  # E
