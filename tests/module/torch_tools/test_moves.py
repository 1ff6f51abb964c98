"""Moves of a module's tensors: dtype, device, memory, loading, and the flags that change how a move is made."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor, nn
from torch.utils import swap_tensors

from .pairs import Block, Pair, Rows, agree, blocks, fill, state

Move = Callable[[nn.Module], nn.Module]

MOVES: dict[str, Move] = {
    "to-dtype": lambda module: module.to(torch.float64),
    "to-device": lambda module: module.to("cpu"),
    "to-like": lambda module: module.to(torch.empty(0, dtype=torch.float64)),
    "double": lambda module: module.double(),
    "half": lambda module: module.half(),
    "bfloat16": lambda module: module.bfloat16(),
    "type": lambda module: module.type(torch.float64),
    "there-and-back": lambda module: module.double().float(),
    "cpu": lambda module: module.cpu(),
    "to-empty": lambda module: module.to_empty(device="cpu"),
}


@pytest.fixture(params=[(False, False), (False, True), (True, False), (True, True)], ids=str)
def flags(request: pytest.FixtureRequest) -> Iterator[None]:
    """Moves under each setting of the two flags: tensors are overwritten, replaced, or swapped."""
    future = torch.__future__
    before = future.get_overwrite_module_params_on_conversion(), future.get_swap_module_params_on_conversion()
    overwrite, swap = request.param
    future.set_overwrite_module_params_on_conversion(overwrite)
    future.set_swap_module_params_on_conversion(swap)
    yield
    future.set_overwrite_module_params_on_conversion(before[0])
    future.set_swap_module_params_on_conversion(before[1])


def shown(module: nn.Module) -> list[Tensor]:
    """What the attributes of the blocks show, which has to be what is registered."""
    return [tensor for block in blocks(module) for tensor in (block.weight, block.shift, block.scale, block.noise)]


def assert_shows_what_is_registered(module: nn.Module) -> None:
    registered = {id(tensor) for tensor in state(module)}
    assert all(id(tensor) in registered for tensor in shown(module))


@pytest.mark.usefixtures("flags")
@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES.keys())
def test_a_move_reaches_every_tensor(pair: Pair, move: Move) -> None:
    def run(module: nn.Module) -> list[Tensor]:
        moved = move(module)
        assert moved is module
        assert_shows_what_is_registered(module)
        fill(module)  # `to_empty` leaves any values
        return state(module)

    agree(pair, run)


@pytest.mark.usefixtures("flags")
def test_a_move_keeps_what_an_optimiser_knows_as_far_as_plain_torch_does(pair: Pair) -> None:
    def run(module: nn.Module) -> Tensor:
        before = [id(parameter) for parameter in module.parameters()]
        module.double()
        return torch.tensor([id(parameter) for parameter in module.parameters()] == before)

    agree(pair, run)


@pytest.mark.usefixtures("flags")
def test_gradients_move_along(pair: Pair) -> None:
    def run(module: nn.Module) -> list[Tensor]:
        module(pair.input).sum().backward()
        module.double()
        return [parameter.grad for parameter in module.parameters() if parameter.grad is not None]

    agree(pair, run)


def test_it_computes_where_it_was_moved_to(pair: Pair) -> None:
    def double(input: Tensor | Rows) -> Tensor | Rows:
        return input.double()

    agree(pair, lambda module: module.double()(double(pair.input)))


def test_virtual_tensors_follow(pair: Pair) -> None:
    pair.declared.to(dtype=torch.float64, device="meta")
    found = [block.causal for block in blocks(pair.declared) if isinstance(block, Block)]
    assert found and {(causal.dtype, causal.device.type) for causal in found} == {(torch.float64, "meta")}


def test_a_module_on_meta_becomes_usable(pair: Pair) -> None:
    def run(module: nn.Module) -> Tensor:
        module.to("meta").to_empty(device="cpu")
        fill(module)
        out: Tensor = module(pair.input)
        return out

    agree(pair, run)


@pytest.mark.usefixtures("flags")
@pytest.mark.parametrize("assign", [False, True])
def test_a_state_dict_is_loaded(pair: Pair, assign: bool) -> None:
    given = {key: value.clone() + 1 for key, value in pair.plain.state_dict().items()}

    def run(module: nn.Module) -> list[Tensor]:
        module.load_state_dict({key: value.clone() for key, value in given.items()}, assign=assign)
        assert_shows_what_is_registered(module)
        return [*state(module), module(pair.input)]

    agree(pair, run)


def test_a_state_dict_is_assigned_to_a_module_on_meta(pair: Pair) -> None:
    given = pair.plain.state_dict()

    def run(module: nn.Module) -> list[Tensor]:
        module.to("meta")
        module.load_state_dict(given, assign=True)
        return list(module.state_dict().values())

    agree(pair, run)


def test_an_assigned_module_shares_the_memory_of_the_dict(pair: Pair) -> None:
    given = {key: value.clone() for key, value in pair.plain.state_dict().items()}
    pair.declared.load_state_dict(given, assign=True)
    pointers = {tensor.data_ptr() for tensor in given.values()}
    assert {tensor.data_ptr() for tensor in pair.declared.state_dict().values()} == pointers


@pytest.mark.parametrize("strict", [False, True])
def test_wrong_keys_and_shapes_are_reported_in_the_same_words(pair: Pair, strict: bool) -> None:
    given = dict(pair.plain.state_dict())
    first, second = list(given)[:2]
    del given[second]
    given["unknown"] = torch.ones(1)
    given[first] = torch.ones(7)
    words = []
    for module in pair.both:
        with pytest.raises(RuntimeError) as error:
            module.load_state_dict(given, strict=strict)
        words.append(str(error.value).replace("PlainBlock", "Block").replace("PlainTower", "Tower"))
    assert words[0] == words[1]


def test_tensors_are_swapped(pair: Pair) -> None:
    def run(module: nn.Module) -> list[Tensor]:
        for block in blocks(module):
            swap_tensors(block.weight, nn.Parameter(torch.zeros(4, 4)))  # type: ignore[no-untyped-call] # torch gives it no types
        return [*shown(module), module(pair.input)]

    agree(pair, run)


def test_its_memory_can_be_shared(pair: Pair) -> None:
    def run(module: nn.Module) -> list[Tensor]:
        module.share_memory()
        assert all(tensor.untyped_storage().is_shared() for tensor in [*state(module), *shown(module)])
        return state(module)

    agree(pair, run)


def test_gradient_recording_can_be_turned_off_and_on(pair: Pair) -> None:
    pair.declared.requires_grad_(False)
    assert not pair.declared(pair.input).requires_grad
    pair.declared.requires_grad_(True)
    assert pair.declared(pair.input).requires_grad
