"""What cannot be materialised says so before anything has changed: where, what, and how to mend it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import cast

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Module, buffer, deferred_init, fake_mode, materialize_module, param, submodule

from .declared import Block, Decoder, tensors


class Rotary(nn.Module):
    """As in transformers: the constructor computes a buffer that nothing else can compute again."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.register_buffer("inv_freq", 1 / (10 ** (torch.arange(dim) / dim)), persistent=False)
        self.scale = nn.Parameter(torch.ones(dim))


class Net(Module):
    """Only `on_meta` keeps the arguments of an `__init__` that is written by hand."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim
        self.linear = nn.Linear(dim, dim)
        self.rotary = Rotary(dim)


def test_state_without_a_reset_parameters_is_named_and_nothing_has_changed() -> None:
    with torch.device("meta"):
        net = Net(2)
    with pytest.raises(RuntimeError) as caught:
        net.materialize("cpu", seed=0)

    why = " (Rotary initialises it, and Net has an __init__ of its own, whose arguments Net.on_meta() would have kept)"
    assert str(caught.value) == (
        "materialize(): rotary.scale, a parameter of Rotary, is initialised by nothing: Rotary has no reset_parameters; give it"
        " one that fills self.scale, or give its values in state_dict=,"
        f" or build the module with qten_gen.deferred_init{why}\n"
        "  rotary.inv_freq, a buffer of Rotary, is initialised by nothing: Rotary has no reset_parameters; give it"
        " one that fills self.inv_freq, or give its values in"
        f" state_dict=, or build the module with qten_gen.deferred_init{why}"
    )
    assert {tensor.device.type for tensor in tensors(net).values()} == {"meta"}


def test_a_module_above_can_fill_what_a_layer_of_another_library_does_not() -> None:
    class Filling(Net, init=False):
        def reset_parameters(self) -> None:
            nn.init.ones_(self.rotary.scale)
            self.rotary.inv_freq = 1 / (10 ** (torch.arange(self.dim) / self.dim))

    make: type[Net] = Filling
    with torch.device("meta"):
        filling = make(3)
    rotary = filling.materialize("cpu", seed=0).rotary
    assert rotary.scale.tolist() == [1.0] * 3
    torch.testing.assert_close(rotary.get_buffer("inv_freq"), Rotary(3).get_buffer("inv_freq"), rtol=0, atol=0)


def test_a_reset_parameters_that_leaves_a_tensor_out_is_named() -> None:
    class Half(Module):
        dim: int
        weight: nn.Parameter = param("dim")
        table: Tensor = buffer("dim")

        def reset_parameters(self) -> None:
            nn.init.ones_(self.weight)

    half = Half.on_meta(2)
    with pytest.raises(
        RuntimeError, match=r"table, a buffer of Half, is not initialised: Half\.reset_parameters does not"
    ):
        half.materialize("cpu", seed=0)
    assert half.weight.is_meta


def test_what_post_init_writes_is_said_to_be_lost_where_the_constructor_cannot_be_recorded() -> None:
    class Late(Module):
        dim: int
        table: Tensor = buffer("dim")

        def __post_init__(self) -> None:
            if not self.table.is_meta:
                raise ValueError("no")

    with (
        pytest.warns(
            UserWarning, match=r"Late\(\) cannot be recorded: no; .* is lost, unless reset_parameters writes it"
        ),
        pytest.raises(RuntimeError, match=r"\(what __post_init__ writes on meta is lost\)"),
    ):
        Late.on_meta(2).materialize("cpu", seed=0)


def test_a_plain_attribute_on_meta_is_not_forgotten() -> None:
    class Tables(Module):
        def __init__(self) -> None:
            super().__init__()
            self.tables = {"cos": torch.ones(2)}

    assert Tables.on_meta().materialize("cpu", seed=0).tables["cos"].tolist() == [1, 1]
    with torch.device("meta"):
        tables = Tables()
    with pytest.raises(
        RuntimeError, match=re.escape("tables['cos'], a plain attribute of Tables, is initialised by nothing")
    ):
        tables.materialize("cpu", seed=0)


def test_an_initialiser_that_returns_a_new_tensor_is_found() -> None:
    class Wrong(Module):
        weight: nn.Parameter = param(3, initializer=lambda tensor: torch.zeros(3))

    with pytest.raises(TypeError, match=r"Wrong\.weight: the initializer .* returned a new tensor, which is not used"):
        Wrong.on_meta().materialize("cpu", seed=0)


def test_an_initialisation_that_reads_memory_that_nothing_wrote_is_refused() -> None:
    class Reading(Module):
        weight: nn.Parameter = param(
            3, initializer=lambda x: x if x.is_meta else x.fill_(torch.empty(2, 3).sum().item())
        )

    with pytest.raises(RuntimeError, match=r"does not write to it, or copies memory that nothing has written"):
        Reading.on_meta().materialize("cpu", seed=0)


GENERATOR = torch.Generator().manual_seed(0)


def test_a_generator_of_its_own_is_refused() -> None:
    class Own(Module):
        weight: nn.Parameter = param(3, initializer=lambda x: nn.init.normal_(x, generator=GENERATOR))

    with pytest.raises(
        ValueError, match=r"Own\.reset_parameters\(\) draws from a generator of its own; .* leave generator= out"
    ):
        Own.on_meta().materialize("cpu", seed=0)


class Inner(Module):
    weight: nn.Parameter = param(3, initializer=nn.init.zeros_)


@pytest.mark.parametrize("write", [nn.init.ones_, lambda weight: weight.data.fill_(1), lambda weight: weight.sum()])
def test_a_parent_that_writes_into_a_declared_child_is_refused(write: Callable[[Tensor], object]) -> None:
    class Outer(Module):
        inner: Inner = submodule(Inner)

        def reset_parameters(self) -> None:
            write(self.inner.weight)

    with pytest.raises(
        RuntimeError, match=r"Outer\.reset_parameters\(\) uses inner\.weight, which another declared module"
    ):
        Outer.on_meta().materialize("cpu", seed=0)


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


def test_a_lazy_layer_has_no_shape_to_materialise() -> None:
    class Lazy(Module):
        inner: nn.LazyLinear = submodule(nn.LazyLinear, 3)

    with pytest.raises(ValueError, match=r"inner\.weight has no shape, because LazyLinear is lazy"):
        Lazy.on_meta().materialize("cpu")


def test_a_device_that_is_not_here_is_refused() -> None:
    module = Decoder.on_meta(7, 4)
    with pytest.raises(ValueError, match="tensors on meta have no values"):
        module.materialize("meta")
    with pytest.raises(RuntimeError, match="there is no xpu:3 device here"):
        module.materialize("xpu:3")
    if not torch.cuda.is_available():
        with pytest.raises(RuntimeError, match="there is no cuda device here"):
            module.materialize("cuda")
    with pytest.raises(RuntimeError, match="nowhere"):
        module.materialize("nowhere")


@pytest.mark.parametrize("dtype", [torch.int64, torch.bool, torch.complex64, "half"])
def test_a_dtype_that_is_not_floating_point_is_refused(dtype: torch.dtype) -> None:
    with pytest.raises(TypeError, match="dtype must be a floating point dtype, got"):
        Block.on_meta(4).materialize("cpu", dtype=dtype)


@pytest.mark.parametrize("seed", ["1", 1.0, True])
def test_a_seed_is_an_integer(seed: int) -> None:
    with pytest.raises(TypeError, match="seed must be an integer, got"):
        Block.on_meta(4).materialize("cpu", seed=seed)


@pytest.mark.parametrize(
    "move", [lambda m: m.to("cpu"), lambda m: m.cpu(), lambda m: m.to(torch.device("cpu"), torch.half)]
)
@pytest.mark.parametrize("make", [lambda: Block.on_meta(4), lambda: Decoder.on_meta(7, 4)])
def test_moving_a_module_from_meta_says_how_to_give_it_values(move: type, make: type) -> None:
    module = make()
    with pytest.raises(NotImplementedError, match=r"is on meta, .*: module\.materialize\(device\) gives them"):
        move(module)
    assert not module.to_empty(device="cpu").weight.is_meta if isinstance(module, Block) else True


def test_other_errors_while_moving_stay() -> None:
    def fail(tensor: Tensor) -> Tensor:
        raise NotImplementedError("of another kind")

    with pytest.raises(NotImplementedError, match="^of another kind$"):
        Block(4)._apply(fail)


def test_a_fake_module_is_refused_with_the_function_that_makes_it_real() -> None:
    net = deferred_init(Decoder, vocab=5, dim=4)
    with pytest.raises(
        RuntimeError, match="is a fake tensor.*; if deferred_init made it, call qten_gen.materialize_module"
    ):
        net.materialize("cpu", seed=0)
    materialize_module(net)
    assert net.materialize("cpu", seed=0) is net


def test_nothing_is_materialised_where_all_tensors_are_fake() -> None:
    net = Decoder.on_meta(vocab=5, dim=4)
    with fake_mode(), pytest.raises(RuntimeError, match="tensors have no values in fake_mode; leave the context first"):
        net.materialize("cpu", seed=0)
    assert all(tensor.is_meta for tensor in tensors(net).values())


class Tied(Module):
    linear: nn.Linear = submodule(nn.Linear, 2, 2)
    head: nn.Parameter = param(2, 2, tie="linear.weight")


def _another_weight(module: Tied) -> None:
    module.linear.weight = nn.Parameter(torch.empty(2, 2, device="meta"))


def _another_layer(module: Tied) -> None:
    module.linear = nn.Linear(2, 2)


@pytest.mark.parametrize("break_tie", [_another_weight, _another_layer])
def test_a_declared_tie_that_is_broken_says_so(break_tie: Callable[[Tied], None]) -> None:
    module = Tied.on_meta()
    break_tie(module)
    with pytest.raises(RuntimeError) as caught:
        module.materialize("cpu", seed=0)

    assert str(caught.value) == (
        "materialize(): head, a parameter of Tied, is not initialised: the declaration ties it to linear.weight, but somebody"
        " assigned another tensor to one of the two; assign the tensor of linear.weight to self.head too, or give the values"
        " of both in state_dict="
    )
    module.head = cast(nn.Parameter, module.linear.weight)
    module.materialize("cpu", seed=0)
    assert module.head is module.linear.weight
