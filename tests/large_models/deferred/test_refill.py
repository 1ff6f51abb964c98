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
