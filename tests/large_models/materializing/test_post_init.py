"""What `__post_init__` and an `__init__` of the author write: as in an eager module, also where it was made on meta."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Module, ModuleList, buffer, deferred_init, materialize_module, submodule

from .declared import Foreign, assert_same, tensors


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


class Constant(Stack):
    """As `self.apply(self._init_weights)` does in many libraries."""

    def __post_init__(self) -> None:
        self.apply(self.fill)

    def fill(self, module: nn.Module) -> None:
        if isinstance(module, nn.Linear):
            nn.init.constant_(module.weight, 0.5)


def test_what_post_init_writes_from_other_tensors_is_as_in_an_eager_module() -> None:
    stack = Stack.on_meta(32).materialize("cpu", seed=0)
    for block in stack.blocks:
        assert not block.down.weight.any()
        assert torch.equal(block.twin.weight, block.up.weight)
        assert 0.9 < block.up.weight.abs().max() * 32**0.5 / 2 <= 1  # twice what nn.Linear draws
    assert not torch.equal(stack.blocks[0].up.weight, stack.blocks[1].up.weight)


def test_a_function_applied_to_all_children_reaches_those_of_other_libraries() -> None:
    constant = Constant.on_meta(3).materialize("cpu", seed=0)
    weights = [module.weight for module in constant.modules() if isinstance(module, nn.Linear)]
    assert len(weights) == 8
    assert all((weight == 0.5).all() for weight in weights)
    assert torch.equal(constant.foreign.table, Foreign(3).table)


class ByHand(Module):
    """Writes its own `__init__`, as most adopted classes do."""

    def __init__(self, dim: int, value: float) -> None:
        super().__init__()
        self.layer = nn.Linear(dim, dim)
        self.scale = nn.Parameter(torch.full((dim,), value))
        nn.init.constant_(self.layer.weight, value)


class Around(Module):
    dim: int
    by_hand: ByHand = submodule(ByHand, "dim", value=0.25)


def test_what_an_init_of_the_author_writes_is_as_in_an_eager_module() -> None:
    alone, inner = ByHand.on_meta(3, value=0.5).materialize("cpu"), Around.on_meta(3).materialize("cpu").by_hand
    assert (alone.layer.weight == 0.5).all() and (inner.layer.weight == 0.25).all()
    assert alone.scale.tolist() == [0.5] * 3 and inner.scale.tolist() == [0.25] * 3
    assert alone.layer.bias.any() and inner.layer.bias.any()


def register(layer: Plain) -> None:
    nn.init.constant_(layer.weight, 5)
    layer.register_buffer("late", torch.arange(2))


class Plain(nn.Module):
    """Of another library."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))

    def reset_parameters(self) -> None:
        nn.init.ones_(self.weight)


CHANGES: list[Callable[[Plain], object]] = [
    lambda layer: layer.weight.data.fill_(5),
    lambda layer: setattr(layer.weight, "data", torch.full((2,), 5.0)),
    lambda layer: setattr(layer, "weight", nn.Parameter(torch.full((2,), 5.0))),
    lambda layer: nn.init.constant_(layer.weight, 5),  # as many writes as `reset_parameters` makes
    register,
]


@pytest.mark.parametrize("change", CHANGES)
def test_values_are_as_in_an_eager_module_however_post_init_writes(change: Callable[[Plain], object]) -> None:
    class Changed(Module):
        layer: Plain = submodule(Plain)
        table: Tensor = buffer(2)

        def __post_init__(self) -> None:
            change(self.layer)
            torch.arange(2, out=self.table)

    found, expected = Changed.on_meta().materialize("cpu"), Changed()
    assert_same(found, expected)


def test_a_child_that_was_exchanged_keeps_its_own_initialisation() -> None:
    class Ones(nn.Linear):
        def reset_parameters(self) -> None:
            nn.init.ones_(self.weight)
            nn.init.ones_(self.bias)

    stack = Stack.on_meta(2)
    stack.blocks[0].down = Ones(2, 2, device="meta")
    stack.materialize("cpu")
    assert (stack.blocks[0].down.weight == 1).all()
    assert not stack.blocks[1].down.weight.any()


def test_a_module_that_was_an_argument_is_not_constructed_around_again() -> None:
    class Around(Module):
        inner: nn.Module
        calls: list[str]

        def __post_init__(self) -> None:
            self.calls.append("post")

    calls: list[str] = []
    with pytest.warns(UserWarning, match=r"an argument of Around\(\) is or holds a module or a tensor"):
        Around.on_meta(nn.Linear(2, 2, device="meta"), calls).materialize("cpu")
    assert calls == ["post"]


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
