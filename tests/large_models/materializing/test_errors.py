"""What cannot be materialised says so before anything has changed: where, what, and how to mend it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Module, buffer, deferred_init, fake_mode, materialize_module, param, submodule

from .declared import Block, Decoder, tensors


def test_an_error_in_reset_parameters_leaves_the_module_as_it_was() -> None:
    class Failing(Block):
        def reset_parameters(self) -> None:
            super().reset_parameters()
            self.extra = 1
            if not self.weight.is_meta:
                raise ValueError("no")

    failing = Failing.on_meta(4)
    state = torch.get_rng_state()
    before = {name: id(tensor) for name, tensor in tensors(failing).items()}
    with pytest.raises(ValueError, match="no") as caught:
        failing.materialize("cpu", seed=0)

    assert any("Failing.reset_parameters()" in note for note in caught.value.__notes__)
    assert {name: id(tensor) for name, tensor in tensors(failing).items()} == before
    assert all(tensor.is_meta for tensor in tensors(failing).values())
    assert not hasattr(failing, "resets")
    assert torch.equal(torch.get_rng_state(), state)


class Inner(Module):
    weight: nn.Parameter = param(3, initializer=nn.init.zeros_)


class Given(Module):
    """A `reset_parameters` that does something to the module."""

    run: Callable[[Given], object]
    weight: nn.Parameter = param(2)
    table: Tensor = buffer(2)
    inner: Inner = submodule(Inner)

    def reset_parameters(self) -> None:
        if not self.weight.is_meta:
            nn.init.ones_(self.weight)
            self.run(self)


class Views(Module):
    table: Tensor = buffer(4, 3, initializer=nn.init.ones_)

    def __post_init__(self) -> None:
        self.register_buffer("rows", self.table[1:3], persistent=False)


class Lazy(Module):
    inner: nn.LazyLinear = submodule(nn.LazyLinear, 3)


GENERATOR = torch.Generator().manual_seed(0)
USES = r"Given\.reset_parameters\(\) uses inner\.weight, which another declared module"
RUNS: dict[str, tuple[Callable[[Given], object], str]] = {
    "a tensor left out": (
        lambda it: None,
        r"table, a buffer of Given, is not initialised: Given\.reset_parameters does not",
    ),
    "unwritten memory that is read": (
        lambda it: it.table.fill_(torch.empty(2, 3).sum().item()),
        r"does not write to it, or copies memory that nothing has written",
    ),
    "tensors in a container": (
        lambda it: setattr(it, "tables", {"cos": torch.ones(3)}),
        r"Given\.reset_parameters assigns tables, which holds tensors; register each as a buffer",
    ),
    "a buffer that nothing registered before": (
        lambda it: it.register_buffer("late", torch.ones(2)),
        r"Given\.reset_parameters registers late; let the constructor do it",
    ),
    "a generator of its own": (
        lambda it: nn.init.normal_(it.table, generator=GENERATOR),
        r"reset_parameters\(\) draws from a generator of its own; .* leave generator= out",
    ),
    "ones in a child": (lambda it: nn.init.ones_(it.inner.weight), USES),
    "data of a child": (lambda it: it.inner.weight.data.fill_(1), USES),
}
REFUSED: dict[str, tuple[Callable[[], Module], str]] = {
    **{name: (partial(Given.on_meta, run), message) for name, (run, message) in RUNS.items()},
    "views": (Views.on_meta, "rows shares memory with table; let it be a copy, or give both names to one tensor"),
    "a lazy layer": (Lazy.on_meta, r"inner\.weight has no shape, because LazyLinear is lazy"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_materialised_says_so_and_its_own_tensors_have_not_changed(name: str) -> None:
    make, message = REFUSED[name]
    module = make()
    with pytest.raises((RuntimeError, ValueError), match=message):
        module.materialize("cpu", seed=0)
    assert all(parameter.is_meta for parameter in module.parameters(recurse=False))


ARGUMENTS: list[tuple[dict[str, Any], str]] = [
    ({"device": "meta"}, "tensors on meta have no values"),
    ({"device": "xpu:3"}, "there is no xpu:3 device here"),
    ({"device": "nowhere"}, "nowhere"),
    *(
        ({"dtype": dtype}, "dtype must be a floating point dtype, got")
        for dtype in (torch.int64, torch.complex64, "half")
    ),
    *(({"seed": seed}, "seed must be an integer, got") for seed in ("1", 1.0, True)),
]


@pytest.mark.parametrize(("arguments", "message"), ARGUMENTS)
def test_arguments_that_do_not_fit_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((RuntimeError, ValueError, TypeError), match=message):
        Block.on_meta(4).materialize(**{"device": "cpu", **arguments})


def test_moving_a_module_from_meta_says_how_to_give_it_values() -> None:
    module = Decoder.on_meta(7, 4)
    for move in (lambda: module.to("cpu"), module.cpu, lambda: module.to(torch.device("cpu"), torch.half)):
        with pytest.raises(NotImplementedError, match=r"is on meta, .*: module\.materialize\(device\) gives them"):
            move()  # type: ignore[no-untyped-call] # torch gives it no types
    assert not next(module.to_empty(device="cpu").parameters()).is_meta

    def fail(tensor: Tensor) -> Tensor:
        raise NotImplementedError("of another kind")

    with pytest.raises(NotImplementedError, match="^of another kind$"):
        module._apply(fail)


def test_fake_modules_and_a_fake_mode_are_refused() -> None:
    net, on_meta = deferred_init(Decoder, vocab=5, dim=4), Decoder.on_meta(vocab=5, dim=4)
    with pytest.raises(RuntimeError, match="is a fake tensor.*; if deferred_init made it, call qten_gen.materialize_m"):
        net.materialize("cpu", seed=0)
    materialize_module(net)
    assert net.materialize("cpu", seed=0) is net
    with fake_mode(), pytest.raises(RuntimeError, match="tensors have no values in fake_mode; leave the context first"):
        on_meta.materialize("cpu", seed=0)
    assert all(tensor.is_meta for tensor in tensors(on_meta).values())
