"""Copies and moves of a module: deepcopy, pickle, torch.save and other processes; dtype, device, loading, and flags of moves."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable, Iterator
from multiprocessing.reduction import ForkingPickler

import pytest
import torch
from torch import Tensor, nn

from .pairs import Block, Pair, PlainBlock, PlainTower, Tower, agree, blocks, fill, state

Change = Callable[[nn.Module], nn.Module]


def saved(value: object) -> io.BytesIO:
    """A file with a value, rewound."""
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return file


def loaded_safely(module: nn.Module) -> nn.Module:
    with torch.serialization.safe_globals([Block, PlainBlock, Tower, PlainTower, nn.LayerNorm, nn.Linear]):
        result: nn.Module = torch.load(saved(module), weights_only=True)
    return result


COPIES: dict[str, Change] = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda module: pickle.loads(pickle.dumps(module)),
    "pickle-protocol-2": lambda module: pickle.loads(pickle.dumps(module, protocol=2)),
    "torch.load": lambda module: torch.load(saved(module), weights_only=False),
    "safe-torch.load": loaded_safely,
    "to-a-process": lambda module: pickle.loads(ForkingPickler.dumps(module)),
}


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_computes_the_same_and_is_independent(pair: Pair, name: str) -> None:
    before, copied = pair.declared(pair.input), COPIES[name]
    agree(pair, lambda module: [*state(copied(module)), copied(module)(pair.input)])
    twin = copied(pair.declared)
    assert type(twin) is type(pair.declared)
    assert repr(twin) == repr(pair.declared)
    assert torch.equal(twin(pair.input), before)
    for tensor in state(twin):
        tensor.detach().zero_()
    assert torch.equal(pair.declared(pair.input), before) or name == "to-a-process"  # which shares the memory


MOVES: dict[str, Change] = {
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
    "meta-and-back": lambda module: module.to("meta").to_empty(device="cpu"),
    "shared": lambda module: module.share_memory(),
}


@pytest.fixture(params=[(False, False), (False, True), (True, False), (True, True)], ids=str)
def flags(request: pytest.FixtureRequest) -> Iterator[None]:
    """Moves under each setting of the two flags: tensors are overwritten, replaced, or swapped."""
    future = torch.__future__
    before = future.get_overwrite_module_params_on_conversion(), future.get_swap_module_params_on_conversion()
    future.set_overwrite_module_params_on_conversion(request.param[0])
    future.set_swap_module_params_on_conversion(request.param[1])
    yield
    future.set_overwrite_module_params_on_conversion(before[0])
    future.set_swap_module_params_on_conversion(before[1])


def shown(module: nn.Module) -> list[Tensor]:
    """What the attributes of the blocks show, which has to be what is registered."""
    found = [tensor for block in blocks(module) for tensor in (block.weight, block.shift, block.scale, block.noise)]
    registered = {id(tensor) for tensor in state(module)}
    assert all(id(tensor) in registered for tensor in found)
    return found


@pytest.mark.usefixtures("flags")
@pytest.mark.parametrize("name", MOVES)
def test_a_move_reaches_every_tensor(pair: Pair, name: str) -> None:
    def run(module: nn.Module) -> list[Tensor]:
        assert MOVES[name](module) is module
        assert name != "shared" or all(tensor.untyped_storage().is_shared() for tensor in shown(module))
        fill(module)  # `to_empty` leaves any values
        found = [*state(module), *shown(module)]
        return [*found, module.float()(pair.input)]

    agree(pair, run)


@pytest.mark.usefixtures("flags")
def test_gradients_move_along_and_an_optimiser_knows_what_it_knows_in_plain_torch(pair: Pair) -> None:
    def run(module: nn.Module) -> list[Tensor]:
        before = [id(parameter) for parameter in module.parameters()]
        module(pair.input).sum().backward()
        module.double()
        gradients = [parameter.grad for parameter in module.parameters() if parameter.grad is not None]
        return [*gradients, torch.tensor([id(parameter) for parameter in module.parameters()] == before)]

    agree(pair, run)


def test_it_computes_where_it_was_moved_to_and_virtual_tensors_follow(pair: Pair) -> None:
    agree(pair, lambda module: module.double()(pair.input.double()))
    pair.declared.to(dtype=torch.float64, device="meta")
    found = [block.causal for block in blocks(pair.declared) if isinstance(block, Block)]
    assert found and {(causal.dtype, causal.device.type) for causal in found} == {(torch.float64, "meta")}


@pytest.mark.usefixtures("flags")
@pytest.mark.parametrize("assign", [False, True])
def test_a_state_dict_is_loaded(pair: Pair, assign: bool) -> None:
    given = {key: value.clone() + 1 for key, value in pair.plain.state_dict().items()}

    def run(module: nn.Module) -> list[Tensor]:
        module.load_state_dict({key: value.clone() for key, value in given.items()}, assign=assign)
        return [*state(module), *shown(module), module(pair.input)]

    agree(pair, run)
