"""Copies of a module: deepcopy, pickle, torch.save, other processes, replicas."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from multiprocessing.reduction import ForkingPickler

import pytest
import torch
from torch import Tensor, nn

from .pairs import Block, Pair, PlainBlock, PlainTower, Tower, agree, blocks, fail_alike, state

OURS = [Block, PlainBlock, Tower, PlainTower]
THEIRS = [nn.LayerNorm, nn.Linear]


def saved(value: object) -> io.BytesIO:
    """A file with a value, rewound."""
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return file


def loaded_safely(module: nn.Module) -> nn.Module:
    with torch.serialization.safe_globals([*OURS, *THEIRS]):
        result: nn.Module = torch.load(saved(module), weights_only=True)
    return result


COPIES: dict[str, Callable[[nn.Module], nn.Module]] = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda module: pickle.loads(pickle.dumps(module)),
    "pickle-protocol-2": lambda module: pickle.loads(pickle.dumps(module, protocol=2)),
    "torch.load": lambda module: torch.load(saved(module), weights_only=False),
    "safe-torch.load": loaded_safely,
    "to-a-process": lambda module: pickle.loads(ForkingPickler.dumps(module)),
}


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES.keys())
def test_a_copy_computes_the_same(pair: Pair, copied: Callable[[nn.Module], nn.Module]) -> None:
    before = pair.declared(pair.input)
    agree(pair, lambda module: [*state(copied(module)), copied(module)(pair.input)])
    twin = copied(pair.declared)
    assert type(twin) is type(pair.declared)
    assert repr(twin) == repr(pair.declared)
    assert torch.equal(twin(pair.input), before)


@pytest.mark.parametrize("copied", [COPIES["deepcopy"], COPIES["pickle"], COPIES["safe-torch.load"]])
def test_a_copy_is_independent(pair: Pair, copied: Callable[[nn.Module], nn.Module]) -> None:
    before = pair.declared(pair.input)
    for tensor in state(copied(pair.declared)):
        tensor.detach().zero_()
    assert torch.equal(pair.declared(pair.input), before)


def test_a_shallow_copy_shares_its_tensors(pair: Pair) -> None:
    def run(module: nn.Module) -> list[Tensor]:
        twin = copy.copy(module)
        assert [id(tensor) for tensor in state(twin)] == [id(tensor) for tensor in state(module)]
        return [twin(pair.input)]

    agree(pair, run)


def test_the_safe_load_refuses_a_class_that_nobody_allowed(pair: Pair) -> None:
    fail_alike(pair, lambda module: torch.load(saved(module)), pickle.UnpicklingError, "Weights only load failed")


def test_a_state_dict_survives_the_safe_load(pair: Pair) -> None:
    def run(module: nn.Module) -> list[Tensor]:
        given = torch.load(saved(module.state_dict()))
        assert list(given) == list(module.state_dict())
        return list(given.values())

    agree(pair, run)


def test_a_checkpoint_is_mapped_into_memory(pair: Pair, tmp_path: object) -> None:
    path = f"{tmp_path}/state.pt"
    torch.save(pair.plain.state_dict(), path)
    for block in blocks(pair.declared):
        nn.init.zeros_(block.weight)
    pair.declared.load_state_dict(torch.load(path, mmap=True), assign=True)
    assert torch.equal(pair.declared(pair.input), pair.plain(pair.input))


def replica(module: nn.Module) -> nn.Module:
    """A replica as DataParallel makes it: registered tensors become plain attributes, parameters no leaves."""
    made: nn.Module = module._replicate_for_data_parallel()  # type: ignore[no-untyped-call] # torch gives it no types
    for name, parameter in module.named_parameters(recurse=False):
        setattr(made, name, 2 * parameter)
    for name, buffer in module.named_buffers(recurse=False):
        setattr(made, name, buffer.clone())
    for name, child in module.named_children():
        setattr(made, name, replica(child))
    return made


def test_a_replica_computes_with_the_tensors_it_is_given(pair: Pair) -> None:
    def run(module: nn.Module) -> list[Tensor]:
        out: Tensor = replica(module)(pair.input)
        out.sum().backward()  # type: ignore[no-untyped-call] # torch gives it no types
        return [out, *(parameter.grad for parameter in module.parameters() if parameter.grad is not None)]

    agree(pair, run)


def test_data_parallel_without_a_gpu_calls_the_module(pair: Pair) -> None:
    def run(module: nn.Module) -> Tensor:
        out: Tensor = nn.DataParallel(module)(pair.input)
        return out

    agree(pair, run)
