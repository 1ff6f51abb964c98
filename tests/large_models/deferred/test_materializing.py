"""Materializing whole modules, parts of them, and tensors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import Tensor, nn

from qten_gen import deferred_init, fake_mode, is_deferred, materialize_module, materialize_tensor

from .comparing import assert_equal, deferred, seeded


def _model() -> nn.Sequential:
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Sequential(nn.Linear(4, 2)))


def test_a_check_function_gates_the_tensors_of_a_module_and_not_its_children_and_buffers_come_alone() -> None:
    model = deferred(_model)
    materialize_module(model, check_fn=lambda module: isinstance(module, nn.Linear))
    assert [is_deferred(tensor) for tensor in model.parameters()] == [False, False, True, True, False, False]
    assert is_deferred(model[1]) and not is_deferred(model[2])
    materialize_module(model, buffers_only=True)
    assert not any(is_deferred(buffer) for buffer in model.buffers()) and is_deferred(model[1].weight)
    materialize_module(model)
    assert_equal(seeded(_model), model)


def test_what_is_real_and_what_is_materialized_stays_as_it_is() -> None:
    tensor, real, model = torch.ones(3), _model(), deferred(_model)
    assert materialize_tensor(tensor) is tensor
    weight = model.get_parameter("0.weight")
    made = materialize_tensor(weight)
    assert materialize_tensor(weight) is made and isinstance(made, nn.Parameter)
    materialize_module(model)
    assert model[0].weight is made
    for module in (real, model):
        before = {name: (id(tensor), tensor._version) for name, tensor in module.named_parameters()}
        materialize_module(module)
        assert {name: (id(tensor), tensor._version) for name, tensor in module.named_parameters()} == before


def test_views_share_memory_and_values_do_not_depend_on_what_happened_to_parts_that_exist() -> None:
    def construct() -> tuple[Tensor, Tensor, Tensor]:
        base = torch.zeros(2, 2)
        view = base[0]
        base.add_(1)
        base[1].mul_(3)
        return view, base, base * 2

    view, base, double = deferred_init(construct)
    made = materialize_tensor(view)
    assert made.tolist() == [1, 1]
    made.zero_()
    assert materialize_tensor(base).tolist() == [[0, 0], [3, 3]]
    assert materialize_tensor(double).tolist() == [[2, 2], [6, 6]]


def test_tensors_are_replaced_wherever_a_module_holds_them() -> None:
    class Holder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            x = torch.randn(2)
            self.weight = nn.Parameter(torch.randn(3))
            self.closure: Callable[[], Tensor] = lambda: x
            self.bound = partial(torch.add, x)
            self.optimizer = torch.optim.SGD([self.weight], lr=0.1)
            self.by_tensor = {self.weight: "weight"}
            self.nested = {"a": [x, (x, {x})]}
            self.unregistered = [nn.Linear(1, 1)]
            self.myself = [self]
            self.tied = self.weight
            self.weight.register_hook(lambda gradient: gradient * 5)  # type: ignore[no-untyped-call] # of torch

    module = deferred(Holder)
    materialize_module(module)
    x = seeded(lambda: torch.randn(2))
    assert torch.equal(module.closure(), x) and module.bound.args[0] is module.closure()
    assert module.optimizer.param_groups[0]["params"][0] is module.weight
    assert next(iter(module.by_tensor)) is module.weight
    made = module.closure()
    assert module.nested == {"a": [made, (made, {made})]}
    assert not is_deferred(module.unregistered[0]) and module.myself == [module] and module.tied is module.weight
    module.weight.sum().backward()  # type: ignore[no-untyped-call] # of torch
    assert module.weight.grad is not None and module.weight.grad.tolist() == [5, 5, 5]


def test_a_module_inside_of_no_grad_autocast_and_inference_mode_is_what_the_constructor_made() -> None:
    with torch.inference_mode():
        inside = deferred_init(nn.Linear, 2, 2)
    outside = deferred_init(nn.Linear, 2, 2)
    with torch.inference_mode(), torch.autocast("cpu"), torch.device("meta"), fake_mode():
        materialize_module(outside)
    materialize_module(inside)
    assert inside.weight.is_inference() and not outside.weight.is_inference()
    assert outside.weight.device.type == "cpu" and outside.weight.dtype == torch.float32


def test_whatever_a_function_returns_is_returned_and_may_use_inference_tensors_from_outside() -> None:
    with torch.inference_mode():
        outside = torch.arange(3.0)
    pair = deferred_init(lambda: (torch.ones(3) + outside, "name"))
    assert materialize_tensor(pair[0]).tolist() == [1, 2, 3] and pair[1] == "name"
    assert deferred_init(int, "3") == 3
    model = nn.Sequential(deferred_init(nn.Linear, 2, 2), nn.Linear(2, 2), deferred_init(nn.Linear, 2, 2))
    materialize_module(model)
    assert not is_deferred(model)


def test_nested_calls_are_deferred_by_the_outermost() -> None:
    class Nested(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.before = nn.Linear(2, 2)
            self.inner = deferred_init(nn.Linear, 2, 2)
            materialize_module(self.inner)
            self.total = materialize_tensor(self.inner.weight).sum().item()
            self.after = nn.Linear(2, 2)

    eager, module = seeded(Nested), deferred(Nested)
    assert is_deferred(module.inner) and module.total == eager.total
    materialize_module(module)
    materialize_module(eager)
    assert_equal(eager, module)


def test_a_fake_tensor_that_nothing_recorded_cannot_be_materialized() -> None:
    with fake_mode():
        tensor, module = torch.ones(3), nn.Linear(2, 2)
    for materialize in (lambda: materialize_tensor(tensor), lambda: materialize_module(module)):
        with pytest.raises(ValueError, match="got a fake tensor whose values nothing recorded"):
            materialize()
    assert not is_deferred(tensor) and not is_deferred(module)


def test_a_print_within_the_constructor_shows_the_values_and_one_after_it_does_not_pretend_to() -> None:
    def construct() -> tuple[Tensor, list[str]]:
        x = nn.Parameter(torch.ones(2)) * 2
        return x, [f"{x}", str(x[0].detach()), f"{x[0].item():.1f}"]

    x, shown = deferred_init(construct)
    assert shown == ["tensor([2., 2.], grad_fn=<MulBackward0>, deferred=True)", "tensor(2., deferred=True)", "2.0"]
    assert repr(x) == "tensor(..., size=(2,), grad_fn=<MulBackward0>, deferred=True)"
