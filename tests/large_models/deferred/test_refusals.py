"""What cannot be recorded is refused when it happens, by name and line; what comes after the context is never lost."""

from __future__ import annotations

import copy
import functools
import pickle
import re
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import cast

import pytest
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils.dlpack import from_dlpack

from qten_gen import deferred_init, fake_mode, materialize_module, materialize_tensor
from qten_gen.large_models.deferred.tape import DeferredError

from .comparing import assert_equal


class Subclass(Tensor):
    """A subclass that knows nothing of deferral."""


class Loaded(nn.Parameter):
    """A parameter that its class gives attributes."""

    def __new__(cls, data: Tensor, loader: object) -> Loaded:
        return super().__new__(cls, data)

    def __init__(self, data: Tensor, loader: object) -> None:
        self.loader = loader


def _in_a_thread(tensor: Tensor) -> None:
    errors: list[Exception] = []

    def work() -> None:
        try:
            tensor.mul_(2)
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    raise errors[0]


def _without(context: Callable[[], AbstractContextManager[object]], tensor: Tensor) -> None:
    with context():
        tensor.mul_(2)


def _doubled_in_fake_mode(tensor: Tensor) -> Tensor:
    with fake_mode():
        return tensor * 2


OUTSIDE = torch.zeros(3)
OTHER = deferred_init(torch.ones, 3)
with fake_mode():
    FAKE = torch.ones(3)
ELSEWHERE = "aten.mul_.Tensor was called on a deferred tensor where deferred_init cannot record it"
CONJUGATE = "cannot record `tensor.data = value`: the value is a conjugate view; take value.resolve_conj() or value.resolve_neg()"
NO_MEMORY = "a deferred tensor has no memory yet; do it after the module is materialized"
RULE = "torch runs it on memory, and has no rule for fake tensors"

# torch gives some of these functions no types.
# mypy: allow-untyped-calls
REFUSED: list[tuple[Callable[[Tensor], object], str]] = [
    (lambda x: OUTSIDE.normal_(), "aten.normal_.default: it draws random numbers for a tensor from outside"),
    (lambda x: x.data_ptr(), f"cannot record data_ptr(): {NO_MEMORY}"),
    (lambda x: from_dlpack(x), f"cannot record dlpack: {NO_MEMORY}"),
    (lambda x: setattr(made := torch.zeros(3, dtype=torch.complex64), "data", made.conj()), CONJUGATE),
    (
        lambda x: torch.empty(0).set_(x.untyped_storage()),
        "aten.set_.source_Storage: it takes the memory of a tensor itself; pass",
    ),
    (
        lambda x: x.as_subclass(Subclass),
        "aten.alias.default was called on a deferred tensor where deferred_init cannot",
    ),
    (lambda x: Loaded(x, len), "Loaded: Python does not call the `__init__` of its class on a deferred tensor"),
    (
        lambda x: torch.quasirandom.SobolEngine(3, scramble=True, seed=1),
        f"{RULE}; call it outside, and pass in what it",
    ),
    (
        lambda x: torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.Linear(2, 2)), {nn.Linear}),
        f"cannot record aten._empty_affine_quantized.default: {RULE}; do it after the module is materialized",
    ),
    (lambda x: x.to_sparse(), "its result is not a strided tensor"),
    (_in_a_thread, ELSEWHERE),
    (lambda x: _without(_disable_current_modes, x), ELSEWHERE),
    (lambda x: _without(torch._C._DisableTorchDispatch, x), "record mul_ on a deferred tensor: modes are switched off"),
    (
        lambda x: setattr(OUTSIDE, "data", x),
        "cannot record `tensor.data = value`: the tensor is from outside, and the value is not",
    ),
    (lambda x: OTHER * 2, "made by another deferred_init or fake_mode; materialize it before"),
    (lambda x: x * FAKE, "made by another deferred_init or fake_mode"),
]


@pytest.mark.filterwarnings("ignore:torch.ao.quantization is deprecated")
@pytest.mark.parametrize(("operation", "message"), REFUSED)
def test_what_cannot_be_recorded_is_refused_by_name_and_line(
    operation: Callable[[Tensor], object], message: str
) -> None:
    with pytest.raises(DeferredError, match=re.escape(message)) as caught:
        deferred_init(lambda: operation(torch.randn(3)))
    assert str(caught.value).startswith(f"{__file__}:")


AFTER: dict[str, Callable[[nn.Linear], object]] = {
    "half": lambda module: module.half(),
    "a call": lambda module: module(torch.ones(1, 2)),
    "state_dict": lambda module: module.state_dict(),
    "in fake mode": lambda module: _doubled_in_fake_mode(module.weight),
    "a deep copy": lambda module: copy.deepcopy(module),
    "an initializer that draws until it fits": lambda module: nn.init.trunc_normal_(module.weight),
    "new content": lambda module: setattr(module.weight, "data", torch.ones(3, 2)),
    "to the device that it is on": lambda module: module.to("cpu"),
    "set_": lambda module: module.weight.data.set_(torch.ones(3, 2)),  # type: ignore[call-overload] # left out by torch
    "an output": lambda module: torch.ones(3, out=module.bias.data),
}
MEMORY: dict[str, Callable[[nn.Linear], object]] = {
    "share_memory_": lambda module: module.weight.share_memory_(),
    "data_ptr": lambda module: module.weight.data_ptr(),
    "numpy": lambda module: module.weight.numpy(),
    "pickle": lambda module: pickle.dumps(module),
}


@pytest.mark.parametrize("name", [*AFTER, *MEMORY])
def test_what_needs_values_or_memory_after_the_context_is_an_error(name: str) -> None:
    module = deferred_init(nn.Linear, 2, 3)
    if name in AFTER:
        message = "was called on a deferred tensor, after deferred_init returned, so it cannot"
        with pytest.raises(DeferredError, match=message) as caught:
            AFTER[name](module)
        assert str(caught.value).startswith(f"{__file__}:")
    else:
        with pytest.raises(
            RuntimeError, match="needs the memory .* call materialize_tensor or materialize_module first"
        ):
            MEMORY[name](module)
    materialize_module(module)
    assert module(torch.ones(1, 2)).shape == (1, 3)


STALE: dict[str, Callable[[nn.Parameter, torch.optim.Optimizer], object]] = {
    "a step": lambda weight, optimizer: optimizer.step(),
    "requires_grad_": lambda weight, optimizer: weight.requires_grad_(False),
    "a hook": lambda weight, optimizer: weight.register_hook(print),
    "content": lambda weight, optimizer: setattr(weight, "data", torch.ones(3, 2)),
}


@pytest.mark.parametrize("name", STALE)
def test_a_tensor_that_has_been_materialized_is_not_silently_used_in_place_of_its_values(name: str) -> None:
    module = deferred_init(nn.Linear, 2, 3)
    weight, optimizer = module.weight, torch.optim.SGD(module.parameters(), lr=1.0)
    materialize_module(module)
    module(torch.ones(1, 2)).sum().backward()
    with pytest.raises(DeferredError, match="on a deferred tensor that is materialized by now; .* make optimizers"):
        STALE[name](cast(nn.Parameter, weight), optimizer)


def test_a_deferred_tensor_in_a_cache_is_an_error_that_names_caches() -> None:
    @functools.cache
    def table() -> Tensor:
        return torch.arange(4)

    deferred_init(lambda: table() * 2)
    for use in (lambda: table() * 2, lambda: deferred_init(lambda: table() * 2)):
        with pytest.raises(DeferredError, match="if a cache kept it, clear the cache"):
            use()


def test_what_an_operation_raises_when_it_is_carried_out_has_a_note_with_the_line() -> None:
    def construct() -> Tensor:
        return torch.tensor([0.0, 1.0])[torch.tensor([5])]

    deferred = deferred_init(construct)
    with pytest.raises(IndexError) as caught:
        materialize_tensor(deferred)
    place = f"{construct.__code__.co_filename}:{construct.__code__.co_firstlineno + 1}"
    assert [note.split("recorded at ")[1] for note in caught.value.__notes__] == [place]


def test_a_tensor_from_outside_that_changes_is_an_error_when_its_values_are_needed() -> None:
    outside = torch.ones(3)
    deferred = deferred_init(lambda: torch.zeros(3) + outside)
    outside.add_(1)
    with pytest.raises(
        DeferredError, match="a tensor from outside, which aten.add.Tensor read there, was changed in place"
    ):
        materialize_tensor(deferred)


def test_content_that_is_exchanged_unseen_after_the_context_is_an_error() -> None:
    module = deferred_init(nn.Linear, 2, 2)
    with torch._C.DisableTorchFunction():
        module.weight.data = torch.ones(2, 2)
    with pytest.raises(DeferredError, match="did not see what made the tensor of size"):
        materialize_module(module)


@pytest.mark.parametrize(
    "change",
    [
        lambda module: module.requires_grad_(False),
        lambda module: setattr(module.weight, "grad", torch.ones(3, 2)),
        lambda module: module.weight.register_hook(lambda gradient: gradient * 2),
        lambda module: module.register_parameter("other", module.weight),
        lambda module: module.load_state_dict({"weight": torch.ones(3, 2), "bias": torch.ones(3)}, assign=True),
    ],
)
def test_what_a_module_is_told_after_the_context_is_kept_where_it_computes_nothing(
    change: Callable[[nn.Linear], None],
) -> None:
    def told(make: Callable[[], nn.Linear]) -> nn.Linear:
        torch.manual_seed(0)
        change(module := make())
        materialize_module(module)
        if module.weight.requires_grad:
            module(torch.ones(1, 2)).sum().backward()
        return module

    module, eager = told(lambda: deferred_init(nn.Linear, 2, 3)), told(lambda: nn.Linear(2, 3))
    assert_equal(eager, module)


@pytest.mark.parametrize("write", [lambda tensor: tensor.add_(1), nn.init.normal_])
def test_a_write_into_expanded_memory_is_the_error_that_eager_raises(write: Callable[[Tensor], Tensor]) -> None:
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        deferred_init(lambda: nn.ParameterList([write(torch.zeros(1).expand(4))]))
