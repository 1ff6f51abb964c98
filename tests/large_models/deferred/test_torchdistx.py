"""What torchdistx promised of deferred initialization holds here too."""

from __future__ import annotations

import torch
from torch import nn

from qten_gen import deferred_init, materialize_module, materialize_tensor


def test_gradients_are_required_after_as_before() -> None:
    linear = deferred_init(nn.Linear, 4, 2)
    assert linear.weight.requires_grad and linear.weight.is_leaf
    materialize_module(linear)
    assert linear.weight.requires_grad and linear.weight.is_leaf and type(linear.weight) is nn.Parameter


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


def test_arguments_are_handed_to_the_function() -> None:
    linear = deferred_init(nn.Linear, 3, out_features=5, bias=False)
    assert (linear.in_features, linear.out_features) == (3, 5)
    assert dict(linear.named_parameters()).keys() == {"weight"}
