"""What constructors alone give: children of other libraries, and what `__post_init__` and an `__init__` of the author write.

It is as in an eager module, or refused: nothing is constructed twice that changes the caller's objects.
"""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy
import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import parametrizations

from qten_gen import Module, ModuleList, buffer, deferred_init, materialize_module, param, submodule

from .declared import Foreign, assert_same, tensors


class Net(Module):
    dim: int
    repeated: ModuleList[Foreign] = submodule(Foreign, "dim", repeat=2)
    single: Foreign = submodule(Foreign, "dim", 0.25)
    plain: nn.Linear = submodule(nn.Linear, "dim", "dim")


def test_a_child_has_the_values_of_its_constructor_and_not_those_of_the_layers_in_it() -> None:
    reports: list[str] = []
    net = Net.on_meta(64).materialize("cpu", seed=0, report=lambda report: reports.append(str(report)))
    eager = Net(64)
    assert "single.layers.0.weight: Foreign.__init__\n" in reports[0]
    assert "plain.weight: Linear.reset_parameters\n" in reports[0]
    assert net.single.get_parameter("layers.0.bias").tolist() == [0.25] * 64
    assert [each.get_parameter("layers.1.bias").tolist() for each in net.repeated] == [[0.5] * 64] * 2
    weights = torch.stack([each.get_parameter("layers.1.weight").detach() for each in (*net.repeated, net.single)])
    torch.testing.assert_close(weights.std((1, 2)), torch.full((3,), 0.02), rtol=0.1, atol=0)
    assert float(torch.corrcoef(weights.flatten(1)).fill_diagonal_(0).abs().max()) < 0.1
    torch.testing.assert_close(net.single.get_buffer("table"), eager.single.get_buffer("table"), rtol=0, atol=0)
    assert net.single.offsets.tolist() == list(range(64))


def test_the_values_depend_on_seed_and_name_alone() -> None:
    whole = Net.on_meta(8).materialize("cpu", seed=0)
    torch.randn(3)
    assert_same(Net.on_meta(8).materialize("cpu", seed=0), whole)


def test_a_module_above_changes_once_what_the_constructor_gave() -> None:
    class Doubling(Net):
        def reset_parameters(self) -> None:
            with torch.no_grad():
                self.single.get_parameter("layers.0.bias").mul_(2)

    assert Doubling.on_meta(3).materialize("cpu", seed=0).single.get_parameter("layers.0.bias").tolist() == [0.5] * 3


class FromNumPy(Foreign):
    def __init__(self) -> None:
        super().__init__(2)
        with torch.no_grad():
            self.get_parameter("layers.0.bias").copy_(torch.from_numpy(numpy.random.rand(2)))


def test_numbers_of_numpy_depend_on_the_seed_and_leave_its_generator_alone() -> None:
    class OfNumPy(Module):
        child: FromNumPy = submodule(FromNumPy)

    one, same, other = (OfNumPy.on_meta() for _ in range(3))
    state = str(numpy.random.get_state())
    for module, seed in ((one, 0), (same, 0), (other, 1)):
        module.materialize("cpu", seed=seed)
    assert_same(one, same)
    assert not torch.equal(one.child.get_parameter("layers.0.bias"), other.child.get_parameter("layers.0.bias"))
    assert str(numpy.random.get_state()) == state


class Normed(Module):
    """Layers whose constructor gives them parametrizations."""

    weight: nn.Module = submodule(lambda: parametrizations.weight_norm(nn.Linear(8, 8)))
    spectral: nn.Module = submodule(lambda: parametrizations.spectral_norm(nn.Linear(16, 16)))


def test_parametrizations_of_a_constructor_are_as_it_makes_them() -> None:
    net = Normed.on_meta().materialize("cpu", seed=0).eval()
    norm = net.get_parameter("weight.parametrizations.weight.original0")
    torch.testing.assert_close(
        norm, net.get_parameter("weight.parametrizations.weight.original1").norm(dim=1, keepdim=True)
    )
    weight = net.get_parameter("spectral.parametrizations.weight.original")
    largest = torch.linalg.matrix_norm(weight, ord=2)
    torch.testing.assert_close(net.spectral.weight * largest, weight, rtol=0.1, atol=0.02)


class Block(Module):
    """Writes constants, and one weight from another."""

    dim: int
    up: nn.Linear = submodule(nn.Linear, "dim", "dim")
    twin: nn.Linear = submodule(nn.Linear, "dim", "dim")
    down: nn.Linear = submodule(nn.Linear, "dim", "dim")

    def __post_init__(self) -> None:
        nn.init.zeros_(self.down.weight)
        with torch.no_grad():
            self.up.weight.mul_(2)
            self.twin.weight.copy_(self.up.weight)


class Stack(Module):
    dim: int
    blocks: ModuleList[Block] = submodule(Block, "dim", repeat=2)
    foreign: Foreign = submodule(Foreign, "dim")


def test_what_post_init_writes_from_other_tensors_is_as_in_an_eager_module() -> None:
    stack = Stack.on_meta(32).materialize("cpu", seed=0)
    for block in stack.blocks:
        assert not block.down.weight.any()
        assert torch.equal(block.twin.weight, block.up.weight)
        assert 0.9 < block.up.weight.abs().max() * 32**0.5 / 2 <= 1  # twice what nn.Linear draws
    assert not torch.equal(stack.blocks[0].up.weight, stack.blocks[1].up.weight)


class ByHand(Module):
    """Writes its own `__init__`, as most adopted classes do, and changes what it is given."""

    def __init__(self, dim: int, values: list[float]) -> None:
        super().__init__()
        self.layer = nn.Linear(dim, dim)
        self.scale = nn.Parameter(torch.tensor(values))
        nn.init.constant_(self.layer.weight, values[0])
        values.append(9.0)


class Around(Module):
    dim: int
    by_hand: ByHand = submodule(ByHand, "dim", values=[0.25, 1.0])


def test_what_an_init_of_the_author_writes_is_as_in_an_eager_module() -> None:
    alone, inner = ByHand.on_meta(3, [0.5]).materialize("cpu"), Around.on_meta(3).materialize("cpu").by_hand
    assert (alone.layer.weight == 0.5).all() and (inner.layer.weight == 0.25).all()
    assert alone.layer.bias.any() and inner.layer.bias.any()


class Plain(nn.Module):
    """Of another library."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))

    def reset_parameters(self) -> None:
        nn.init.ones_(self.weight)


class Changed(Module):
    layers: ModuleList[Plain] = submodule(Plain, repeat=4)
    table: Tensor = buffer(2)

    def __post_init__(self) -> None:
        self.layers[0].weight.data.fill_(5)
        self.layers[1].weight.data = torch.full((2,), 5.0)
        self.layers[2].weight = nn.Parameter(torch.full((2,), 5.0))
        nn.init.constant_(self.layers[3].weight, 5)  # as many writes as `reset_parameters` makes
        self.layers[3].register_buffer("late", torch.arange(2))
        torch.arange(2, out=self.table)


def test_values_are_as_in_an_eager_module_however_post_init_writes() -> None:
    assert_same(Changed.on_meta().materialize("cpu"), Changed())


def test_a_dtype_and_strides_of_the_module_on_meta_stay() -> None:
    stack = Stack.on_meta(4, dtype=torch.float64)
    stack.blocks[0].up.half()
    stack.blocks[0].down.weight = nn.Parameter(stack.blocks[0].down.weight.detach().t())
    dtypes = {name: (tensor.dtype, tensor.stride()) for name, tensor in tensors(stack).items()}
    stack.materialize("cpu")
    assert {name: (tensor.dtype, tensor.stride()) for name, tensor in tensors(stack).items()} == dtypes


def test_a_recording_between_two_of_the_user_does_not_come_between_their_numbers() -> None:
    torch.manual_seed(0)
    _, second = nn.Linear(2, 2), nn.Linear(2, 2)
    torch.manual_seed(0)
    deferred_init(nn.Linear, 2, 2)
    stack = Stack.on_meta(2)
    torch.manual_seed(0)
    deferred_init(nn.Linear, 2, 2)
    stack.materialize("cpu", seed=0)
    found = deferred_init(nn.Linear, 2, 2)
    materialize_module(found)
    assert torch.equal(found.weight, second.weight)


class Fill(Module):
    value: float = 1.0
    weight: nn.Parameter = param(1, initializer="fill")

    def fill(self, tensor: Tensor) -> None:
        tensor.fill_(self.value)


class Squaring(Fill):
    def __post_init__(self) -> None:
        self.value = self.value**2


class OfSquaring(Module):
    inner: Squaring = submodule(Squaring, 3.0)


def test_the_arguments_are_those_that_were_given() -> None:
    values = [1.0, 2.0]
    module = ByHand.on_meta(2, values)
    values[:] = [7.0, 8.0]
    assert module.materialize("cpu").scale.tolist() == [1, 2] and values == [7, 8]
    assert Squaring.on_meta(3.0).materialize("cpu").weight.item() == 3


class Pair(Module):
    one: Fill = submodule(Fill, 1.0)
    three: Fill = submodule(Fill, 3.0)


class PairWithPost(Pair):
    def __post_init__(self) -> None:
        self.three.weight.data.mul_(2)


@pytest.mark.parametrize("cls", [Pair, PairWithPost])
@pytest.mark.parametrize(("first", "tied"), [("one", "three"), ("three", "one")])
def test_a_tie_made_afterwards_has_the_values_of_the_module_that_made_it(
    cls: type[Pair], first: str, tied: str
) -> None:
    found, expected = cls.on_meta(), cls()
    for pair in (found, expected):
        getattr(pair, tied).weight = getattr(pair, first).weight
    copied = copy.deepcopy(found)
    found.materialize("cpu")
    assert found.one.weight is found.three.weight and torch.equal(found.one.weight, expected.one.weight)
    if cls is Pair:
        with pytest.raises(RuntimeError, match=r"one\.weight and three\.weight are one tensor"):
            copied.materialize("cpu")


class Settings:
    def __init__(self, layer: nn.Linear) -> None:
        self.layer = layer


def failing() -> nn.Linear:
    layer = nn.Linear(2, 2)
    if not layer.weight.is_meta:
        raise ValueError("no")
    parametrizations.weight_norm(layer)
    return layer


class OfFailing(Module):
    child: nn.Module = submodule(failing)


class AroundForeign(Module):
    given: object
    inner: Foreign = submodule(Foreign, 2)


def changed(module: Module, change: Callable[..., object]) -> Module:
    with torch.device("meta"):
        change(module)
    return module


def on_device() -> Module:
    with torch.device("meta"):
        return ByHand(1, [1.0])


def exchanged(pair: PairWithPost) -> None:
    pair.one, pair.three = pair.three, pair.one


REFUSED: dict[str, tuple[Callable[[], Module], str]] = {
    "not made by on_meta": (on_device, r"constructor, and ByHand\.on_meta\(\) did not make this module, so nothing"),
    "a copy": (lambda: copy.deepcopy(ByHand.on_meta(1, [1.0])), r"ByHand\.on_meta\(\) did not make this module"),
    "a module in an argument": (
        lambda: AroundForeign.on_meta(nn.Linear(1, 1)),
        r"inner, of the class Foreign, is initialised by its constructor, and an argument of AroundForeign\(\) is or holds",
    ),
    "a module in a list": (lambda: AroundForeign.on_meta([nn.Linear(1, 1)]), r"an argument of AroundForeign\(\) is or"),
    "a module in an object": (
        lambda: AroundForeign.on_meta(Settings(nn.Linear(1, 1))),
        r"AroundForeign\(\) is or holds",
    ),
    "a constructor that fails": (
        OfFailing.on_meta,
        r"child, of the class Linear, is initialised by its constructor, and OfFailing\(\) cannot be recorded: no; give its",
    ),
    "a field that the constructor changes": (OfSquaring.on_meta, r"Squaring\(\) does not make inner as it is now"),
    "a field changed afterwards": (
        lambda: changed(PairWithPost.on_meta(), lambda pair: setattr(pair.three, "value", 5.0)),
        r"PairWithPost\(\) does not make three as it is now",
    ),
    "children exchanged": (
        lambda: changed(PairWithPost.on_meta(), exchanged),
        r"does not make one\.weight as it is now",
    ),
    "another child": (
        lambda: changed(PairWithPost.on_meta(), lambda pair: setattr(pair, "three", Fill.on_meta(5.0))),
        r"does not make three\.weight as it is now",
    ),
    "a child of another size": (
        lambda: changed(Net.on_meta(3), lambda net: setattr(net, "single", Foreign(4))),
        r"Net\(\) does not make single\.table as it is now",
    ),
    "parametrizations afterwards": (
        lambda: changed(Net.on_meta(3), lambda net: parametrizations.weight_norm(net.plain)),
        r"Net\(\) does not make plain\.parametrizations\.weight\.original0 as it is",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_constructor_gives_is_refused_before_anything_changes(name: str) -> None:
    make, message = REFUSED[name]
    module = make()
    before = {name: id(tensor) for name, tensor in tensors(module).items() if tensor.is_meta}
    with pytest.raises(RuntimeError, match=message):
        module.materialize("cpu", seed=0)
    assert {name: id(tensor) for name, tensor in tensors(module).items() if tensor.is_meta} == before
