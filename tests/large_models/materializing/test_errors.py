"""What cannot be materialised says so before anything has changed: where, what, and how to mend it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

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
    with pytest.warns(UserWarning, match="Filling has an __init__ of its own, whose arguments Filling.on_meta"):
        rotary = filling.materialize("cpu", seed=0).rotary
    assert rotary.scale.tolist() == [1.0] * 3
    torch.testing.assert_close(rotary.get_buffer("inv_freq"), Rotary(3).get_buffer("inv_freq"), rtol=0, atol=0)


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


class Writing(Module):
    """A parent that does something with the weight of a declared child."""

    write: Callable[[Tensor], object]
    inner: Inner = submodule(Inner)

    def reset_parameters(self) -> None:
        self.write(self.inner.weight)


class Half(Module):
    weight: nn.Parameter = param(2)
    table: Tensor = buffer(2)

    def reset_parameters(self) -> None:
        nn.init.ones_(self.weight)


class Assigning(Module):
    weight: nn.Parameter = param(2)

    def reset_parameters(self) -> None:
        nn.init.ones_(self.weight)
        self.table = {"cos": torch.empty(3)}


class Late(Module):
    table: Tensor = buffer(2)

    def __post_init__(self) -> None:
        if not self.table.is_meta:
            raise ValueError("no")


class Views(Module):
    table: Tensor = buffer(4, 3, initializer=nn.init.ones_)

    def __post_init__(self) -> None:
        self.register_buffer("rows", self.table[1:3], persistent=False)


class Lazy(Module):
    inner: nn.LazyLinear = submodule(nn.LazyLinear, 3)


class Initialised(Module):
    """A weight with an initialiser that is given."""

    initialise: Callable[[Tensor], object]
    weight: nn.Parameter = param(3, initializer="by_function")

    def by_function(self, tensor: Tensor) -> object:
        return self.initialise(tensor)


class Tied(Module):
    """A declared tie that something breaks."""

    linear: nn.Linear = submodule(nn.Linear, 2, 2)
    head: nn.Parameter = param(2, 2, tie="linear.weight")


def _broken(replace: Callable[[Tied], None]) -> Tied:
    module = Tied.on_meta()
    replace(module)
    return module


GENERATOR = torch.Generator().manual_seed(0)
USES = r"Writing\.reset_parameters\(\) uses inner\.weight, which another declared module"
TIED = (
    r"materialize\(\): head, a parameter of Tied, is not initialised: the declaration ties it to linear\.weight, but somebody"
    r" assigned another tensor to one of the two; assign the tensor of linear\.weight to self\.head too, or give the values"
)
REFUSED: dict[str, tuple[Callable[[], Module], str]] = {
    "a tensor left out": (
        Half.on_meta,
        r"table, a buffer of Half, is not initialised: Half\.reset_parameters does not",
    ),
    "unwritten memory in an attribute": (
        Assigning.on_meta,
        r"Assigning\.reset_parameters assigns table with nan, or with",
    ),
    "views": (Views.on_meta, "rows shares memory with table; let it be a copy, or give both names to one tensor"),
    "a lazy layer": (Lazy.on_meta, r"inner\.weight has no shape, because LazyLinear is lazy"),
    "unwritten memory that is read": (
        lambda: Initialised.on_meta(lambda x: x.is_meta or x.fill_(torch.empty(2, 3).sum().item())),
        r"does not write to it, or copies memory that nothing has written",
    ),
    "a generator of its own": (
        lambda: Initialised.on_meta(lambda x: nn.init.normal_(x, generator=GENERATOR)),
        r"reset_parameters\(\) draws from a generator of its own; .* leave generator= out",
    ),
    "ones in a child": (lambda: Writing.on_meta(nn.init.ones_), USES),
    "data of a child": (lambda: Writing.on_meta(lambda weight: weight.data.fill_(1)), USES),
    "a sum of a child": (lambda: Writing.on_meta(lambda weight: weight.sum()), USES),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_materialised_says_so_and_its_own_tensors_have_not_changed(name: str) -> None:
    make, message = REFUSED[name]
    module = make()
    with pytest.raises((RuntimeError, ValueError), match=message):
        module.materialize("cpu", seed=0)
    assert all(parameter.is_meta for parameter in module.parameters(recurse=False))


def test_what_post_init_writes_is_said_to_be_lost_where_the_constructor_cannot_be_recorded() -> None:
    lost = r"Late\(\) cannot be recorded: no; .* is lost, unless reset_parameters writes it"
    with (
        pytest.warns(UserWarning, match=lost),
        pytest.raises(RuntimeError, match=r"\(what __post_init__ writes on meta is lost\)"),
    ):
        Late.on_meta().materialize("cpu", seed=0)


def test_an_initialiser_that_returns_a_new_tensor_is_found() -> None:
    class Wrong(Module):
        weight: nn.Parameter = param(3, initializer=lambda tensor: torch.zeros(3))

    with pytest.raises(TypeError, match=r"Wrong\.weight: the initializer .* returned a new tensor, which is not used"):
        Wrong.on_meta().materialize("cpu", seed=0)


def test_what_is_missing_of_a_tie_can_be_assigned() -> None:
    module = _broken(lambda it: setattr(it, "linear", nn.Linear(2, 2)))
    module.head = cast(nn.Parameter, module.linear.weight)
    assert module.materialize("cpu", seed=0).head is module.linear.weight


def test_a_plain_attribute_on_meta_is_not_forgotten() -> None:
    class Tables(Module):
        def __init__(self) -> None:
            super().__init__()
            self.tables = {"cos": torch.ones(2)}

    assert Tables.on_meta().materialize("cpu", seed=0).tables["cos"].tolist() == [1, 1]
    with torch.device("meta"):
        tables = Tables()
    message = re.escape("tables['cos'], a plain attribute of Tables, is initialised by nothing")
    with pytest.raises(RuntimeError, match=message):
        tables.materialize("cpu", seed=0)


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


@pytest.mark.parametrize(
    "move", [lambda m: m.to("cpu"), lambda m: m.cpu(), lambda m: m.to(torch.device("cpu"), torch.half)]
)
@pytest.mark.parametrize("make", [lambda: Block.on_meta(4), lambda: Decoder.on_meta(7, 4)])
def test_moving_a_module_from_meta_says_how_to_give_it_values(
    move: Callable[[Module], object], make: Callable[[], Module]
) -> None:
    module = make()
    with pytest.raises(NotImplementedError, match=r"is on meta, .*: module\.materialize\(device\) gives them"):
        move(module)
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
