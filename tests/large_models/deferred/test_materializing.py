"""Materializing whole modules, parts of them, and tensors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import Tensor, nn

from qten_gen import deferred_init, fake_mode, is_deferred, materialize_module, materialize_tensor


def _model() -> nn.Sequential:
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Sequential(nn.Linear(4, 2)))


def _eager(seed: int = 0) -> nn.Sequential:
    torch.manual_seed(seed)
    return _model()


def _deferred(seed: int = 0) -> nn.Sequential:
    torch.manual_seed(seed)
    return deferred_init(_model)


def _equal(one: nn.Module, other: nn.Module) -> bool:
    first, second = one.state_dict(), other.state_dict()
    return all(torch.equal(first[name], second[name]) for name in first)


def test_a_check_function_gates_the_tensors_of_a_module_and_not_its_children() -> None:
    model = _deferred()
    materialize_module(model, check_fn=lambda module: isinstance(module, nn.Linear))
    assert [is_deferred(tensor) for tensor in model.parameters()] == [False, False, True, True, False, False]
    assert is_deferred(model[1]) and not is_deferred(model[2])
    materialize_module(model)
    assert _equal(model, _eager())


def test_buffers_only_leaves_parameters_deferred() -> None:
    model = _deferred()
    materialize_module(model, buffers_only=True)
    assert not any(is_deferred(buffer) for buffer in model.buffers())
    assert all(is_deferred(parameter) for parameter in model.parameters())
    materialize_module(model)
    assert _equal(model, _eager())


def test_materializing_twice_changes_nothing() -> None:
    model = _deferred()
    materialize_module(model)
    before = {name: (id(tensor), tensor._version) for name, tensor in model.named_parameters()}
    materialize_module(model)
    assert {name: (id(tensor), tensor._version) for name, tensor in model.named_parameters()} == before


def test_a_real_tensor_and_a_real_module_stay_as_they_are() -> None:
    tensor, module = torch.ones(3), _model()
    weight = module[0].weight
    assert materialize_tensor(tensor) is tensor
    materialize_module(module)
    assert module[0].weight is weight


def test_a_deferred_tensor_becomes_one_object_however_often_it_is_asked_for() -> None:
    module = deferred_init(nn.Linear, 2, 2)
    deferred = module.weight
    first = materialize_tensor(deferred)
    assert materialize_tensor(deferred) is first and isinstance(first, nn.Parameter)
    materialize_module(module)
    assert module.weight is first


def test_two_names_of_one_tensor_stay_two_names_of_one_tensor() -> None:
    def tied() -> nn.Module:
        model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
        model[1].weight = model[0].weight
        return model

    model = deferred_init(tied)
    first, second = model.get_submodule("0"), model.get_submodule("1")
    materialize_module(model, check_fn=lambda module: module is second)
    materialize_module(model)
    assert first.weight is second.weight and isinstance(first.weight, nn.Parameter)


def test_views_that_are_made_one_after_the_other_share_memory() -> None:
    whole, row = deferred_init(lambda: (x := torch.randn(2, 3), x[1]))
    made = materialize_tensor(row)
    made.zero_()
    assert materialize_tensor(whole)[1].tolist() == [0, 0, 0]


def test_values_do_not_depend_on_what_happened_to_parts_that_exist() -> None:
    base, double = deferred_init(lambda: (x := torch.ones(3), x * 2))
    materialize_tensor(base).fill_(7)
    assert materialize_tensor(double).tolist() == [2, 2, 2]


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

    torch.manual_seed(0)
    module = deferred_init(Holder)
    materialize_module(module)
    torch.manual_seed(0)
    x = torch.randn(2)
    assert torch.equal(module.closure(), x) and module.bound.args[0] is module.closure()
    assert module.optimizer.param_groups[0]["params"][0] is module.weight
    assert next(iter(module.by_tensor)) is module.weight
    made = module.closure()
    assert module.nested == {"a": [made, (made, {made})]}
    assert not is_deferred(module.unregistered[0]) and module.myself == [module]


def test_hooks_of_tensors_are_kept() -> None:
    def hooked() -> nn.Linear:
        linear = nn.Linear(1, 1)
        linear.weight.register_hook(lambda gradient: gradient * 5)  # type: ignore[no-untyped-call] # torch gives it no types
        return linear

    linear = deferred_init(hooked)
    materialize_module(linear)
    linear(torch.ones(1)).sum().backward()
    assert linear.weight.grad is not None and linear.weight.grad.item() == 5


def test_whatever_a_function_returns_is_returned() -> None:
    pair = deferred_init(lambda: (torch.ones(2), "name"))
    assert materialize_tensor(pair[0]).tolist() == [1, 1] and pair[1] == "name"
    assert deferred_init(int, "3") == 3


def test_a_module_inside_of_no_grad_autocast_and_inference_mode_is_what_the_constructor_made() -> None:
    with torch.inference_mode():
        inside = deferred_init(nn.Linear, 2, 2)
    outside = deferred_init(nn.Linear, 2, 2)
    with torch.inference_mode(), torch.autocast("cpu"), torch.device("meta"), fake_mode():
        materialize_module(outside)
    materialize_module(inside)
    assert inside.weight.is_inference() and not outside.weight.is_inference()
    assert outside.weight.device.type == "cpu" and outside.weight.dtype == torch.float32


def test_nested_calls_are_deferred_by_the_outermost() -> None:
    class Nested(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.before = nn.Linear(2, 2)
            self.inner = deferred_init(nn.Linear, 2, 2)
            materialize_module(self.inner)
            self.total = materialize_tensor(self.inner.weight).sum().item()
            self.after = nn.Linear(2, 2)

    torch.manual_seed(0)
    eager = Nested()
    torch.manual_seed(0)
    deferred = deferred_init(Nested)
    assert is_deferred(deferred.inner) and deferred.total == eager.total
    materialize_module(deferred)
    materialize_module(eager)
    assert _equal(eager, deferred)


def test_a_model_of_several_deferred_parts_is_made_at_once() -> None:
    model = nn.Sequential(deferred_init(nn.Linear, 2, 2), nn.Linear(2, 2), deferred_init(nn.Linear, 2, 2))
    materialize_module(model)
    assert not is_deferred(model)


def test_a_fake_tensor_that_nothing_recorded_cannot_be_materialized() -> None:
    with fake_mode():
        tensor, module = torch.ones(3), nn.Linear(2, 2)
    for materialize in (lambda: materialize_tensor(tensor), lambda: materialize_module(module)):
        with pytest.raises(ValueError, match="got a fake tensor whose values nothing recorded"):
            materialize()
    assert not is_deferred(tensor) and not is_deferred(module)


def test_a_deferred_tensor_is_fake_and_shows_it() -> None:
    weight: Tensor = deferred_init(nn.Linear, 2, 3).weight
    assert repr(weight) == "Parameter containing:\ntensor(..., size=(3, 2), requires_grad=True, fake=True)"
