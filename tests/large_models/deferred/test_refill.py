"""`refill`: unsaved buffers and ties of plain modules, after trainers have lost them."""

from copy import deepcopy

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch._C._distributed_c10d import HashStore
from torch.distributed.checkpoint.state_dict import StateDictOptions, set_model_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from qten_gen import is_deferred, materialize_module, refill

from .comparing import deferred, seeded


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed, self.head = nn.Embedding(6, 4), nn.Linear(4, 6, bias=False)
        self.register_buffer("noise", torch.randn(4), persistent=False)
        self.head.weight = self.embed.weight


def is_right(model: Model) -> bool:
    tied = model.head.weight is model.embed.weight
    return tied and not is_deferred(model) and torch.equal(model.get_buffer("noise"), seeded(Model).get_buffer("noise"))


@pytest.mark.parametrize("cycle", ["to_empty", "assign", "fully_shard"])
def test_three_cycles_are_wrong_without_and_right_with_it(cycle: str) -> None:
    model = deferred(Model)
    if cycle == "fully_shard":
        dist.init_process_group("gloo", store=HashStore(), rank=0, world_size=1)
        fully_shard(model.to_empty(device="meta"), mesh=init_device_mesh("cpu", (1,)))
    if cycle != "assign":
        model.to_empty(device="cpu").get_buffer("noise").fill_(torch.nan)  # what was in the memory before
    if cycle == "fully_shard":
        set_model_state_dict(model, seeded(Model).state_dict(), options=StateDictOptions(full_state_dict=True))
        dist.destroy_process_group()
    else:
        state = {name: value.clone() for name, value in seeded(Model).state_dict().items()}
        model.load_state_dict(state, assign=cycle == "assign")
    assert not is_right(model)
    assert is_right(refill(model))


class Shapes(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("wide", torch.ones(1).expand(3), persistent=False)
        self.register_buffer("late", nn.UninitializedBuffer(), persistent=False)


def test_a_buffer_may_be_expanded_or_lazy() -> None:
    model = deferred(Shapes)
    for _ in range(2):
        assert refill(model).get_buffer("wide").tolist() == [1.0, 1.0, 1.0]
        assert torch.nn.parameter.is_lazy(model.get_buffer("late"))
        materialize_module(model)


@pytest.mark.parametrize("name", ["embed", "head"])
def test_the_name_of_a_tie_that_was_loaded_gives_the_parameter(name: str) -> None:
    model = deferred(Model)
    for child in (model.embed, model.head):
        child.weight = nn.Parameter(torch.full((6, 4), 9.0))  # memory without values
    model.get_submodule(name).load_state_dict({"weight": torch.ones(6, 4)})
    assert is_right(refill(model)) and bool((model.embed.weight == 1).all())


def test_fsdp_keeps_its_parameter_of_a_tie_and_has_no_tie_between_two_groups() -> None:
    dist.init_process_group("gloo", store=HashStore(), rank=0, world_size=1)
    mesh, model, apart = init_device_mesh("cpu", (1,)), deferred(Model), deferred(Model)
    fully_shard(model.to_empty(device="cpu"), mesh=mesh)
    model.load_state_dict({name: torch.zeros_like(each) for name, each in model.state_dict().items()}, assign=True)
    known, other = model.embed.weight, model.head.weight
    assert other is not known and refill(model).head.weight is model.embed.weight is known
    apart.to_empty(device="cpu").load_state_dict(seeded(Model).state_dict())
    for child in apart.children():
        fully_shard(child, mesh=mesh)
    with pytest.raises(ValueError, match="weight were tied, and differ: refill before fully_shard"):
        refill(apart)
    dist.destroy_process_group()


def test_an_unsaved_buffer_that_the_recording_does_not_know_is_refused() -> None:
    for name, message in (
        ("noise", r"deferred_init made one of shape \(4,\)"),
        ("other", "deferred_init did not make it"),
    ):
        model = deferred(Model)
        model.register_buffer(name, torch.ones(5), persistent=False)
        with pytest.raises(ValueError, match=rf"Model\.{name} of shape \(5,\) is in no state dict, and {message}"):
            refill(model)


def test_what_cannot_be_mended_is_refused() -> None:
    model = deferred(Model)
    materialize_module(model)
    for unknown in (Model(), deepcopy(model)):
        with pytest.raises(ValueError, match="that deferred_init made, got Model, which no recording knows"):
            refill(unknown)
    model.embed.weight = nn.Parameter(torch.zeros(6, 4))
    with torch.no_grad(), pytest.raises(ValueError, match="weight were tied, and differ: refill before fully_shard"):
        model.embed.weight.add_(1)
        refill(model)
