"""Life cycles of several processes that talk over gloo; `python -m` on this module is one of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.checkpoint import state_dict_loader, state_dict_saver
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    set_model_state_dict,
)
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
from torch.distributed.tensor import Shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

from tests.module.torch_tools.gloo import main

from .models import Llm, broken, checkpoint, spoiled_memory

FULL = StateDictOptions(full_state_dict=True)


def sharded() -> Llm:
    """A model on meta, each block and then the whole in parts."""
    with torch.device("meta"):
        model = Llm()
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    for block in model.blocks:
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)
    return model


def emptied() -> Llm:
    model = sharded()
    spoiled_memory()
    return model.to_empty(device="cpu")


def fsdp2(folder: Path) -> nn.Module:
    model = emptied()
    set_model_state_dict(model, dict(checkpoint()), options=FULL)
    model(torch.zeros(1, 4, dtype=torch.int64)).sum().backward()  # type: ignore[no-untyped-call] # torch gives it no types
    return model


def fsdp1(folder: Path) -> nn.Module:
    """FSDP1 materialises a model on meta by `to_empty` and `reset_parameters` of each module."""
    model = FullyShardedDataParallel(Llm(device="meta"), device_id=torch.device("cpu"), use_orig_params=True)
    with FullyShardedDataParallel.summon_full_params(model):
        model.module.load_state_dict(checkpoint())
    return model


def distributed_checkpoint(folder: Path) -> nn.Module:
    state_dict_saver.save({"model": dict(checkpoint())}, checkpoint_id=folder / "dcp")
    model = emptied()
    state = {"model": get_model_state_dict(model)}
    state_dict_loader.load(state, checkpoint_id=folder / "dcp")
    set_model_state_dict(model, state["model"])
    return model


def tensor_parallel(folder: Path) -> nn.Module:
    """The tied table is in parts on the side of the embedding alone."""
    model = Llm(device="meta")
    plan = {"embed": RowwiseParallel(input_layouts=None, output_layouts=Shard(-1)), "blocks.0.proj": ColwiseParallel()}
    parallelize_module(model, init_device_mesh("cpu", (dist.get_world_size(),)), plan)
    spoiled_memory()
    model.to_empty(device="cpu")
    set_model_state_dict(model, dict(checkpoint()), options=FULL)
    return model


CYCLES: dict[str, Callable[[Path], nn.Module]] = {
    "FSDP1": fsdp1,
    "FSDP2": fsdp2,
    "torch.distributed.checkpoint": distributed_checkpoint,
    "tensor parallel": tensor_parallel,
}


def _judged(name: str) -> Callable[[Path], None]:
    """A check that writes down what is wrong with a model after a life cycle, in this process."""

    def check(folder: Path) -> None:
        made = CYCLES[name](folder)
        if name == "FSDP1":
            with FullyShardedDataParallel.summon_full_params(made):
                found = broken(made)
        else:
            found = broken(made)
        (folder / f"{name}-{dist.get_rank()}.json").write_text(json.dumps(found), encoding="utf-8")

    check.__name__ = name
    return check


if __name__ == "__main__":
    main([_judged(name) for name in CYCLES])
