"""Life cycles of several processes that talk over gloo; `python -m` on this module is one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from functools import cache
from itertools import product, starmap
from pathlib import Path
from typing import TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.checkpoint import state_dict_loader, state_dict_saver
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict, set_model_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecision, MixedPrecisionPolicy, fully_shard
from torch.distributed.fsdp.wrap import CustomPolicy
from torch.distributed.tensor import Shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

from qten_gen import Module, param, submodule
from tests.module.torch_tools.gloo import Check, main

from .models import COLUMNS, DTYPES, Llm, broken, checkpoint, eager, spoiled_memory, tensors, tokens, unequal
from .test_threads import Plain

FULL = StateDictOptions(full_state_dict=True)


def sharded(dtype: torch.dtype = torch.float32) -> Llm:
    """A model on meta, each block and then the whole in parts; torch wants one dtype in each call, and kept ones in their own."""
    with torch.device("meta"):
        model = Llm()
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    for block in model.blocks:
        fully_shard(block.router, mesh=mesh)
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)
    return model.to(dtype)


def emptied(dtype: torch.dtype = torch.float32) -> Llm:
    model = sharded(dtype)
    spoiled_memory()
    return model.to_empty(device="cpu")


def fsdp2(folder: Path, dtype: torch.dtype) -> nn.Module:
    model = emptied(dtype)
    set_model_state_dict(model, dict(checkpoint()), options=FULL)
    model(torch.zeros(1, 4, dtype=torch.int64)).sum().backward()  # type: ignore[no-untyped-call] # torch gives it no types
    return model


def wrapped(model: Llm) -> FullyShardedDataParallel:
    """FSDP1 materialises a model on meta by `to_empty` and `reset_parameters` of each module."""
    routers = [block.router for block in model.blocks]
    policy = CustomPolicy(lambda module: module in routers)
    return FullyShardedDataParallel(model, auto_wrap_policy=policy, device_id=torch.device("cpu"), use_orig_params=True)


def fsdp1(folder: Path, dtype: torch.dtype) -> nn.Module:
    model = wrapped(Llm(device="meta").to(dtype))
    with FullyShardedDataParallel.summon_full_params(model):
        model.module.load_state_dict(checkpoint())
    return model


def distributed_checkpoint(folder: Path, dtype: torch.dtype) -> nn.Module:
    state_dict_saver.save({"model": dict(checkpoint())}, checkpoint_id=folder / "dcp")
    model = emptied(dtype)
    state = {"model": get_model_state_dict(model)}
    state_dict_loader.load(state, checkpoint_id=folder / "dcp")
    set_model_state_dict(model, state["model"])
    return model


def in_parallel(dtype: torch.dtype = torch.float32) -> Llm:
    """A model whose tied table is in parts on the side of the embedding alone, and a router and a layer in parts."""
    model = Llm(device="meta")
    embed = RowwiseParallel(input_layouts=None, output_layouts=Shard(-1))
    plan = {"embed": embed, "blocks.0.proj": ColwiseParallel(), "blocks.1.router": ColwiseParallel()}
    parallelize_module(model, init_device_mesh("cpu", (dist.get_world_size(),)), plan)
    spoiled_memory()
    return model.to(dtype).to_empty(device="cpu")


def tensor_parallel(folder: Path, dtype: torch.dtype) -> nn.Module:
    model = in_parallel(dtype)
    set_model_state_dict(model, dict(checkpoint()), options=FULL)
    return model


CYCLES: dict[str, Callable[[Path, torch.dtype], nn.Module]] = {
    "FSDP1": fsdp1,
    "FSDP2": fsdp2,
    "torch.distributed.checkpoint": distributed_checkpoint,
    "tensor parallel": tensor_parallel,
}


M = TypeVar("M", bound=nn.Module)


def reset_each(model: M, order: Callable[[M], Iterable[nn.Module]] = nn.Module.modules, seed: int = 1) -> M:
    """What trainers do after `to_empty`, where there is no checkpoint."""
    torch.manual_seed(seed)
    for module in order(model):
        if hasattr(module, "reset_parameters"):
            module.reset_parameters()  # type: ignore[operator] # a method where there is one
    return model


def breadth_first(model: nn.Module) -> list[nn.Module]:
    """Modules in the order in which FSDP1 initialises them."""
    found = [model]
    for each in found:
        found += each.children()
    return found


def fsdp1_initialised(folder: Path) -> list[str]:
    torch.manual_seed(1)
    model = FullyShardedDataParallel(Llm(device="meta"), device_id=torch.device("cpu"), use_orig_params=True)
    with FullyShardedDataParallel.summon_full_params(model):
        return unequal(model, tensors(reset_each(Llm(), breadth_first)))


def one_module_initialised(folder: Path) -> list[str]:
    """Its own parameters alone; the layers in it are left as they are."""
    model, expected = (reset_each(model, lambda model: [model.blocks[1]]) for model in (emptied(), Llm()))
    return unequal(model, {"blocks.1.scale": expected.blocks[1].scale})


def plain_initialised(folder: Path) -> list[str]:
    """What public threads report of a plain model that is sharded on meta: LlamaFactory 10820, pytorch 196562."""
    with torch.device("meta"):
        model = Plain()
    fully_shard(model, mesh=init_device_mesh("cpu", (dist.get_world_size(),)))
    spoiled_memory()
    wrong = unequal(reset_each(model.to_empty(device="cpu")), tensors(reset_each(Plain())))
    expected = {"inv_freq": True, "router.weight": dist.get_world_size() > 1}
    return [name for name in expected if any(each.startswith(name) for each in wrong) != expected[name]]


def materialized() -> dict[str, Tensor]:
    return tensors(Llm.on_meta().materialize("cpu", seed=1))


def initialise(module: nn.Module) -> None:
    """A trainer's own function, for each module."""
    for parameter in module.parameters(recurse=False):
        nn.init.normal_(parameter)


def applied(model: Llm) -> Llm:
    torch.manual_seed(1)
    return model.apply(initialise)


class OfParts(Module):
    """Values that a process cannot make which has a part alone, nor where its part is as long as another's."""

    identity: nn.Parameter = param(6, 6, initializer=nn.init.eye_)
    redrawn: nn.Parameter = param(8, 4, initializer=lambda tensor: nn.init.trunc_normal_(tensor, a=0.0, b=0.5))
    rows: nn.Parameter = param(5, 3)
    padded: nn.Embedding = submodule(nn.Embedding, 7, 2, padding_idx=5)

    def reset_parameters(self) -> None:
        super().reset_parameters()
        with torch.no_grad():
            self.rows.fill_(1.0)[3].normal_()
            self.rows.t()[0].uniform_()


def of_parts(folder: Path) -> list[str]:
    world = dist.get_world_size()
    shape, dimensions = ((2, 2), ("data", "tensor")) if world == 4 else ((world,), ("data",))
    mesh = init_device_mesh("cpu", shape, mesh_dim_names=dimensions)
    with torch.device("meta"):
        model = OfParts()
    if world == 4:
        parallelize_module(model, mesh["tensor"], {"padded": ColwiseParallel()})
    fully_shard(model, mesh=mesh["data"])
    return unequal(reset_each(model.to_empty(device="cpu")), tensors(reset_each(OfParts())))


INITIAL: dict[str, Callable[[Path], list[str]]] = {
    "FSDP1": fsdp1_initialised,
    "FSDP2": lambda _: unequal(reset_each(emptied(), seed=1 + dist.get_rank()), tensors(reset_each(Llm()))),
    "FSDP2, one module": one_module_initialised,
    "FSDP2, apply": lambda _: unequal(applied(emptied()), dict(applied(Llm()).named_parameters())),
    "FSDP2, materialize": lambda _: unequal(sharded().materialize("cpu", seed=1), materialized()),
    "values of parts": of_parts,
    "tensor parallel": lambda _: unequal(reset_each(in_parallel()), tensors(reset_each(Llm()))),
    "tensor parallel, materialize": lambda _: unequal(
        in_parallel().to_empty(device="meta").materialize("cpu", seed=1), materialized()
    ),
    "a plain model": plain_initialised,
}
"""Models without a checkpoint: which tensors are others than one process's, that draws what the first of several does."""


def computed_in(model: Llm, called: Callable[..., Tensor]) -> tuple[torch.dtype, torch.dtype]:
    """The dtypes of a router and of frequencies while they are used; gradients come back afterwards."""
    found: dict[str, torch.dtype] = {}
    block = model.blocks[0]
    for part, name in ((block.router, "weight"), (block.rotary, "inv_freq")):
        part.register_forward_hook(lambda part, args, out, name=name: found.update({name: getattr(part, name).dtype}))
    called(tokens()).float().sum().backward()  # type: ignore[no-untyped-call] # torch gives it no types
    return found["weight"], found["inv_freq"]


def casts_of_fsdp2(folder: Path) -> None:
    """A policy casts the parameters of its call for the computation alone, kept ones too; sharded in a call of their own they
    stay. It casts no buffer.
    """
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16)
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    for apart in (False, True):
        model = eager()
        for block in model.blocks if apart else ():
            fully_shard(block.router, mesh=mesh)
        fully_shard(model, mesh=mesh, mp_policy=policy)
        assert computed_in(model, model) == (torch.float32 if apart else torch.bfloat16, torch.float32)
        assert not any(broken(model, torch.float32).values())


def casts_of_fsdp1(folder: Path) -> None:
    """The same, and a module that it ignores stays. Its `buffer_dtype` casts every buffer for good, kept ones too."""
    for ignored, dtype in ((False, None), (True, None), (True, torch.bfloat16)):
        model = eager()
        made = FullyShardedDataParallel(
            model,
            ignored_modules=[block.router for block in model.blocks] if ignored else (),
            mixed_precision=MixedPrecision(param_dtype=torch.bfloat16, buffer_dtype=dtype),
            device_id=torch.device("cpu"),
            use_orig_params=True,
        )
        expected = (torch.float32 if ignored else torch.bfloat16, dtype or torch.float32)
        assert computed_in(model, made) == expected
        assert model.blocks[0].rotary.inv_freq.dtype == expected[1]


@cache
def found(name: str, dtype: torch.dtype, folder: Path) -> dict[str, list[str]]:
    """What is wrong with a model after a life cycle with a cast, in this process."""
    made = CYCLES[name](folder, dtype)
    is_wrapped = isinstance(made, FullyShardedDataParallel)
    with FullyShardedDataParallel.summon_full_params(made) if is_wrapped else nullcontext():
        return broken(made, dtype)


def check(name: str, wrong: Callable[[Path], list[str]]) -> Check:
    """A check with a name, which fails where anything is wrong."""

    def run(folder: Path) -> None:
        found = wrong(folder)
        assert not found, found

    run.__name__ = name
    return run


def cell(name: str, dtype: torch.dtype, column: str) -> Check:
    """A cell of the matrix."""
    return check(f"{name}, {dtype}, {column}", lambda folder: found(name, dtype, folder)[column])


CHECKS: Sequence[Check] = (
    *starmap(cell, product(CYCLES, DTYPES, COLUMNS)),
    *(check(f"{name}, initial values", wrong) for name, wrong in INITIAL.items()),
    casts_of_fsdp2,
    casts_of_fsdp1,
)


if __name__ == "__main__":
    main(CHECKS)
