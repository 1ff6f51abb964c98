"""Whatever is done to a module, a cached virtual tensor is what its function would compute now."""

from __future__ import annotations

import copy
import pickle
import random
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.utils import parametrizations, parametrize

from .declared import default_dtype
from .derived import Derived, compare, compare_everywhere, derived, read_all

# torch gives it no types.
swapped: Callable[..., object] = torch.utils.swap_tensors


def replace_data_by_another_dtype(module: Derived) -> None:
    for tensor in (module.weight, module.fixed, module.running):
        tensor.data = tensor.data.half()


def swap_a_dtype(module: Derived) -> None:
    swapped(module.weight, nn.Parameter(module.weight.detach().double()))


def convert_by_swapping(module: Derived) -> None:
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        module.double()
    finally:
        torch.__future__.set_swap_module_params_on_conversion(False)


def replace_tensors(module: Derived) -> None:
    module.weight = nn.Parameter(torch.full((3, 3), 2.0, dtype=torch.float64))
    module.running = torch.full((3,), 9.0)


def parametrized(module: Derived) -> None:
    parametrizations.weight_norm(module, "weight")
    parametrize.register_parametrization(module, "fixed", nn.Softplus())
    compare_everywhere(module)
    with torch.no_grad():
        module.get_parameter("parametrizations.fixed.original").add_(1)
    compare_everywhere(module)
    with parametrize.cached():
        compare_everywhere(module)
    parametrize.remove_parametrizations(module, "fixed")


def call_functionally(module: Derived) -> None:
    state = {name: torch.full_like(tensor, 3).double() for name, tensor in module.state_dict().items()}
    functional_call(module, state, (torch.ones(3, dtype=torch.float64),))  # its forward compares


def assign_a_state(module: Derived) -> None:
    module.load_state_dict(Derived(3, [], dtype=torch.float64).state_dict(), assign=True)


def change_attributes(module: Derived) -> None:
    module.size, module.scale, module.limits = 2, 4.0, (3,)


def spoil_values(module: Derived) -> None:
    with torch.no_grad():
        module.cached_table.fill_(13)
    module.cached_product.requires_grad_()


def toggle_gradients(module: Derived) -> None:
    module.requires_grad_(False)
    read_all(module)
    module.requires_grad_(True)


def through_meta(module: Derived) -> None:
    module.to("meta")
    compare_everywhere(module)
    module.to_empty(device="cpu")
    for tensor in (*module.parameters(), *module.buffers()):
        tensor.data.zero_()


def read_in_another_thread(module: Derived) -> None:
    failures: list[BaseException] = []

    def read() -> None:
        try:
            compare_everywhere(module)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures


def fill_with(value: float) -> Callable[[Derived], object]:
    def change(module: Derived) -> None:
        with torch.no_grad():
            torch.ops.aten._foreach_mul_.Scalar([module.fixed, module.running, module.weight], value)

    change.__name__ = f"multiply_by_{value}"
    return change


EVENTS: list[Callable[[Derived], object]] = [
    replace_data_by_another_dtype,
    swap_a_dtype,
    convert_by_swapping,
    replace_tensors,
    parametrized,
    call_functionally,
    assign_a_state,
    change_attributes,
    spoil_values,
    toggle_gradients,
    through_meta,
    read_in_another_thread,
    fill_with(2),
    lambda module: module.steps.append(2),
    lambda module: module.eval(),
    lambda module: module.train(False).train(),
    lambda module: module.half(),
    lambda module: module.to(torch.bfloat16),
    lambda module: module.double().float(),
    lambda module: module.load_state_dict(Derived(3, []).requires_grad_(False).state_dict()),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.__name__)
def test_after_an_event(event: Callable[[Derived], object]) -> None:
    module = derived()
    event(module)
    compare_everywhere(module)


MODES: list[Callable[[], AbstractContextManager[object]]] = [
    torch.no_grad,
    torch.enable_grad,
    torch.inference_mode,
    lambda: torch.autocast("cpu", dtype=torch.bfloat16),
    lambda: torch.autocast("cpu", dtype=torch.float16),
    lambda: default_dtype(torch.float64),
    lambda: torch.device("cpu"),
]


@pytest.mark.parametrize("mode", MODES)
def test_in_a_mode_and_after_it(mode: Callable[[], AbstractContextManager[object]]) -> None:
    for module in (derived(), Derived(3, [1])):
        with mode():
            compare_everywhere(module)
        compare_everywhere(module)


@pytest.mark.parametrize("seed", range(20))
def test_after_random_events_in_random_modes(seed: int) -> None:
    choose = random.Random(seed)
    module = Derived(3, [1])
    for event in choose.sample(EVENTS, 6):
        with choose.choice(MODES)():
            compare(module)
        try:
            event(module)
        except (RuntimeError, AttributeError, TypeError, ValueError, KeyError):
            break  # two events that do not go together, in torch as well
        compare_everywhere(module)


def replicated(module: Derived) -> Derived:
    """A copy as DataParallel makes it: its parameters are plain attributes."""
    replica: Derived = module._replicate_for_data_parallel()
    vars(replica).update(module._parameters)
    return replica


@pytest.mark.parametrize(
    "copied",
    [
        copy.deepcopy,
        copy.copy,
        lambda module: pickle.loads(pickle.dumps(module)),
        replicated,
    ],
)
def test_in_a_copy(copied: Callable[[Derived], Derived]) -> None:
    module = derived()
    twin = copied(module)
    assert "_virtual_values" in vars(module) and "_virtual_values" not in vars(twin)
    compare_everywhere(twin)
    twin.double()
    compare_everywhere(twin)


def test_in_compiled_code() -> None:
    """The compiled code must hold no value as a constant that depends on what changes."""

    def everything(module: Derived) -> list[Tensor]:
        return [module.cached_table, module.cached_by_mode, module.cached_by_helper]

    def expected(module: Derived) -> list[Tensor]:
        return [module.table, module.by_mode, module.by_helper]

    module = derived()
    compiled = torch.compile(everything, backend="eager", fullgraph=True)
    for change in (read_all, fill_with(2), lambda m: m.eval(), change_attributes, lambda m: m.double()):
        change(module)
        for found, wanted in zip(compiled(module), expected(module), strict=True):
            assert found.dtype == wanted.dtype and torch.equal(found, wanted)
        compare_everywhere(module)


def test_in_functional_transforms() -> None:
    module = derived()

    def total(weight: Tensor) -> Tensor:
        out: Tensor = functional_call(module, {"weight": weight}, (torch.ones(3),))
        return out.sum()

    torch.func.grad(total)(torch.ones(3, 3))
    torch.vmap(lambda x: x * module.cached_table)(torch.ones(2, 3))
    compare_everywhere(module)
