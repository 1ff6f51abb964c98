"""What an initialisation does that cannot be recorded is an error that names materialize, the module and the line."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Module, deferred_init, param, submodule
from qten_gen.large_models.deferred.errors import DeferredError

OTHER = deferred_init(torch.ones, 3)
OUTSIDE = torch.ones(3)


def _twice_in_a_thread(tensor: Tensor) -> Tensor:
    made: list[Tensor] = []
    thread = threading.Thread(target=lambda: made.append(tensor * 2))
    thread.start()
    thread.join()
    return made[0]


RECORDED: dict[str, tuple[Callable[[Tensor], object], str]] = {
    "data_ptr": (
        lambda x: x.data_ptr(),
        "materialize() cannot record data_ptr() in Inner.reset_parameters() of inner: the tensor has no memory yet;"
        " do it after the module is materialized",
    ),
    "set_": (
        lambda x: x.set_(torch.empty(3).untyped_storage()),
        "materialize() cannot record aten.set_.source_Storage in Inner.reset_parameters() of inner:"
        " it takes the memory of a tensor itself; pass the tensor",
    ),
    "to_sparse": (
        lambda x: x.to_sparse(),
        "materialize() cannot record aten._to_sparse.default in Inner.reset_parameters() of inner:"
        " its result is not a strided tensor; do it after the module is materialized",
    ),
    "a draw into a tensor from outside": (
        lambda x: torch.bernoulli(x.fill_(0.5), out=OUTSIDE),
        "materialize() cannot record aten.bernoulli.out in Inner.reset_parameters() of inner:"
        " it draws random numbers into a tensor from outside; do it after the module is materialized",
    ),
    "a deferred tensor": (
        lambda x: x.copy_(OTHER),
        "the tensor is fake already, and made by another deferred_init or fake_mode;"
        " materialize it before it is used in Inner.reset_parameters() of inner,"
        f" or, if a cache kept it, clear the cache: {__file__}:15 made it",
    ),
    "another thread": (
        lambda x: x.copy_(_twice_in_a_thread(x.zero_())),
        "materialize() did not see what made the tensor of size (3,) in Inner.reset_parameters() of inner;"
        " make tensors by operations of torch, in the thread that called materialize()",
    ),
}


@pytest.mark.parametrize("name", RECORDED)
def test_an_initialiser_that_cannot_be_recorded_is_named_with_its_module_and_line(name: str) -> None:
    operation, message = RECORDED[name]

    class Inner(Module):
        weight: nn.Parameter = param(3, initializer=lambda tensor: None if tensor.is_meta else operation(tensor))

    class Outer(Module):
        inner: Inner = submodule(Inner)

    outer = Outer.on_meta()
    with pytest.raises(RuntimeError) as caught:
        outer.materialize("cpu", seed=0)
    place, _, found = str(caught.value).partition(": ")
    assert found == message
    assert place.startswith(f"{__file__}:")
    assert not isinstance(caught.value, DeferredError)
    assert outer.inner.weight.is_meta


def test_a_tensor_that_nothing_recorded_is_named_where_it_is_assigned() -> None:
    class Assigning(Module):
        weight: nn.Parameter = param(3)

        def reset_parameters(self) -> None:
            nn.init.ones_(self.weight)
            if not self.weight.is_meta:
                self.table = _twice_in_a_thread(self.weight.detach())

    with pytest.raises(
        RuntimeError, match=r"materialize\(\) did not see what made the tensor of size \(3,\) in table;"
    ):
        Assigning.on_meta().materialize("cpu", seed=0)


def test_an_initialiser_may_read_an_array_of_what_it_computed() -> None:
    class Reading(Module):
        weight: nn.Parameter = param(3, initializer="fill")

        def fill(self, tensor: Tensor) -> None:
            if not tensor.is_meta:
                steps = torch.arange(3.0).mul_(tensor.fill_(2).detach()).numpy()
                tensor.fill_(float(steps.sum()))

    assert Reading.on_meta().materialize("cpu", seed=0).weight.tolist() == [6, 6, 6]
