"""What torchdistx promised of deferred initialization holds here too."""

from __future__ import annotations

import torch
from torch import nn

from qten_gen import deferred_init, materialize_tensor

from .comparing import assert_same_as_eager


def test_an_earlier_view_sees_a_later_update_in_place() -> None:
    def construct() -> tuple[torch.Tensor, torch.Tensor]:
        base = torch.zeros(2, 2)
        view = base[0]
        base.add_(1)
        base[1].mul_(3)
        return view, base

    view, base = deferred_init(construct)
    assert materialize_tensor(view).tolist() == [1, 1]
    assert materialize_tensor(base).tolist() == [[1, 1], [3, 3]]


def test_an_inference_tensor_from_outside_can_be_used_inside() -> None:
    with torch.inference_mode():
        outside = torch.arange(3.0)
    assert materialize_tensor(deferred_init(lambda: torch.ones(3) + outside)).tolist() == [1, 2, 3]


def test_a_lazy_module_gets_its_size_where_a_function_runs_it() -> None:
    def construct(out_features: int) -> nn.Module:
        lazy = nn.LazyLinear(out_features)
        lazy(torch.ones([10, 10]))
        return lazy

    assert_same_as_eager(lambda: construct(10))
