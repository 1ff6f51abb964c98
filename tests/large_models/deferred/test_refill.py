"""`refill`: unsaved buffers and ties of plain modules, after trainers have lost them."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from copy import deepcopy

import pytest
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch._C._distributed_c10d import HashStore
from torch.distributed.checkpoint.state_dict import StateDictOptions, set_model_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from qten_gen import deferred_init, is_deferred, materialize_module, refill
from qten_gen.large_models.deferred.refill import _KNOWN

from .comparing import deferred, seeded


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(6, 4)
        self.rotary = nn.Module()
        self.rotary.register_buffer("steps", 1.0 / 10.0 ** torch.arange(0, 1, 0.25), persistent=False)
        self.rotary.register_buffer("noise", torch.randn(4), persistent=False)
        self.head = nn.Linear(4, 6, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, tokens: Tensor) -> Tensor:
        return nn.functional.linear(self.embed(tokens) * self.rotary.get_buffer("steps"), self.head.weight)


EAGER = seeded(Model)


@pytest.fixture(autouse=True)
def process() -> Iterator[None]:
    dist.init_process_group("gloo", store=HashStore(), rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def to_empty(model: Model) -> None:
    for tensor in {*model.to_empty(device="cpu").parameters(), *model.buffers()}:
        tensor.data.fill_(torch.nan)  # what was in the memory before
    set_model_state_dict(model, EAGER.state_dict(), options=StateDictOptions(full_state_dict=True))


def assign(model: Model) -> None:
    model.load_state_dict({name: value.clone() for name, value in EAGER.state_dict().items()}, assign=True)


def sharded(model: Model) -> None:
    fully_shard(model.to_empty(device="meta"), mesh=init_device_mesh("cpu", (1,)))
    to_empty(model)


def is_right(model: Model) -> bool:
    right = [not is_deferred(own) and torch.equal(own, EAGER.get_buffer(name)) for name, own in model.named_buffers()]
    return model.head.weight is model.embed.weight and all(right)


@pytest.mark.parametrize("cycle", [to_empty, assign, sharded])
def test_three_cycles_are_wrong_without_and_right_with_it(cycle: Callable[[Model], None]) -> None:
    model = deferred(Model)
    cycle(model)
    assert not is_right(model)
    state = torch.get_rng_state()
    assert is_right(refill(model)) and torch.equal(torch.get_rng_state(), state)
    model(torch.arange(6)).square().sum().backward()
    assert is_right(model) and torch.equal(model(torch.arange(6)), EAGER(torch.arange(6)))


def test_a_materialized_and_moved_module_is_filled_in_place_and_in_its_dtype() -> None:
    model = deferred(Model)
    materialize_module(model)
    model.to(torch.bfloat16).to_empty(device="meta")
    to_empty(model)
    steps = refill(model).rotary.get_buffer("steps").zero_()
    assert refill(model).rotary.steps is steps and model.head.weight is model.embed.weight
    assert torch.equal(steps, EAGER.rotary.get_buffer("steps").bfloat16())


def test_the_tied_name_that_was_loaded_wins_and_different_ones_are_refused() -> None:
    model = deferred(Model).to_empty(device="meta")
    model.head.weight = nn.Parameter(torch.ones(6, 4))
    assert refill(model).embed.weight is model.head.weight
    model.embed.weight = nn.Parameter(torch.zeros(6, 4))
    with pytest.raises(ValueError, match="weight were tied, and differ"):
        refill(model)


def test_what_no_recording_knows_is_refused() -> None:
    model, before = deferred_init(Model), len(_KNOWN)
    materialize_module(model)
    for unknown in (Model(), deepcopy(model)):
        with pytest.raises(ValueError, match="that deferred_init made, got Model, which no recording knows"):
            refill(unknown)
    model.rotary.register_buffer("more", torch.ones(1), persistent=False)
    with pytest.raises(ValueError, match="Module.more of shape .* in no state dict, and deferred_init did not make it"):
        refill(model)
    del model
    gc.collect()
    assert len(_KNOWN) < before


def test_parameters_that_fully_shard_has_apart_are_refused() -> None:
    model = deferred(Model).to_empty(device="meta")
    assert all(fully_shard(part, mesh=init_device_mesh("cpu", (1,))) for part in (model.embed, model.head))
    with pytest.raises(ValueError, match="were tied, and differ: refill before fully_shard"):
        refill(model)


def test_memory_is_given_after_the_recording_alone() -> None:
    assert is_deferred(deferred(lambda: Model().to_empty(device="cpu")).head.weight)
