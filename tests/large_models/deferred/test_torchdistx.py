"""What torchdistx promised of deferred initialization holds here too."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from qten_gen import deferred_init, is_deferred, is_fake, materialize_module, materialize_tensor
from qten_gen.large_models.deferred.errors import DeferredError


def test_materializing_a_real_tensor_gives_the_tensor_itself() -> None:
    tensor = torch.ones(10)
    assert materialize_tensor(tensor) is tensor


def test_a_parameter_under_two_names_materializes_to_one_object() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.param1 = nn.Parameter(torch.ones(5))
            self.param2 = self.param1

    module = deferred_init(Tied)
    first = materialize_tensor(module.param1)
    assert first is materialize_tensor(module.param1) is materialize_tensor(module.param2)


def test_a_deferred_tensor_is_fake_on_its_device_and_a_materialized_one_is_not() -> None:
    tensor = deferred_init(torch.ones, 10)
    assert is_fake(tensor) and is_deferred(tensor) and tensor.device.type == "cpu" and tensor.shape == (10,)
    assert not is_fake(materialize_tensor(tensor))


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


def test_item_in_a_constructor_gives_the_value_and_leaves_the_tensor_deferred() -> None:
    value, tensor = deferred_init(lambda: ((x := torch.full((2,), 3.0))[0].item(), x))
    assert value == 3 and is_deferred(tensor)


def test_a_call_on_a_deferred_module_is_not_silently_dropped() -> None:
    module = deferred_init(nn.Linear, 2, 2)
    with pytest.raises(DeferredError):
        module.half()
    materialize_module(module)
    assert module.half().weight.dtype == torch.float16


def test_a_tensor_from_outside_can_be_used_inside() -> None:
    outside = torch.arange(3.0)
    assert materialize_tensor(deferred_init(lambda: torch.ones(3) + outside)).tolist() == [1, 2, 3]


def test_an_inference_tensor_from_outside_can_be_used_inside() -> None:
    with torch.inference_mode():
        outside = torch.arange(3.0)
    assert materialize_tensor(deferred_init(lambda: torch.ones(3) + outside)).tolist() == [1, 2, 3]


def test_a_module_that_raises_leaves_deferral() -> None:
    with pytest.raises(ZeroDivisionError):
        deferred_init(lambda: (torch.ones(2), 1 // 0))
    assert not is_fake(torch.ones(2))


def test_arguments_are_handed_to_the_function() -> None:
    linear = deferred_init(nn.Linear, 3, out_features=5, bias=False)
    assert (linear.in_features, linear.out_features) == (3, 5)
    assert dict(linear.named_parameters()).keys() == {"weight"}
