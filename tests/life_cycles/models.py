"""A small language model with all that a trainer may lose, declared and as people write it, and what must hold of it."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.distributed.tensor import DTensor
from torch.types import Device

from qten_gen import Module, ModuleList, buffer, param, submodule

VOCAB, DIM = 13, 8


def frequencies(dim: int) -> Tensor:
    """Those of a rotary embedding, which no checkpoint holds."""
    return 1.0 / 100.0 ** (torch.arange(0, dim, 2).float() / dim)


class Rotary(Module):
    dim: int
    inv_freq: Tensor = buffer(
        "dim//2", value=lambda rotary: frequencies(rotary.dim), persistent=False, dtype=torch.float32, keep_dtype=True
    )

    def forward(self, x: Tensor) -> Tensor:
        angles = torch.arange(x.shape[-2]).float()[:, None] * self.inv_freq.repeat(2)
        return x * angles.cos().to(x.dtype)


class Block(Module):
    dim: int
    rotary: Rotary = submodule(Rotary, "dim")
    mask: Tensor = buffer("dim", "dim", persistent=False, value=lambda block: torch.ones(block.dim, block.dim).tril())
    slopes: Tensor = buffer("dim", persistent=False, initializer="geometric")
    seen: Tensor = buffer(dtype=torch.int64, initializer=nn.init.zeros_)
    router: nn.Linear = submodule(nn.Linear, "dim", "dim", bias=False, dtype=torch.float32, keep_dtype=True)
    proj: nn.Linear = submodule(nn.Linear, "dim", "dim")
    scale: nn.Parameter = param("dim", initializer=nn.init.normal_)

    def geometric(self, tensor: Tensor) -> None:
        tensor.copy_(2.0 ** -torch.arange(self.dim).float())

    def forward(self, x: Tensor) -> Tensor:
        masked = self.rotary(x) @ self.mask.to(x.dtype)
        routed: Tensor = self.router(masked.to(self.router.weight.dtype)) * self.slopes
        out: Tensor = self.proj(routed.to(self.proj.weight.dtype)) * self.scale
        return out.to(x.dtype)


class Llm(Module):
    """Tied embeddings, and blocks with buffers that are in no state dict."""

    vocab: int = VOCAB
    dim: int = DIM
    embed: nn.Embedding = submodule(nn.Embedding, "vocab", "dim")
    blocks: ModuleList[Block] = submodule(Block, "dim", repeat=2)
    head: nn.Parameter = param("vocab", "dim", tie="embed.weight")

    def forward(self, tokens: Tensor) -> Tensor:
        x: Tensor = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return nn.functional.linear(x, self.head)


class PlainRotary(nn.Module):
    """`Rotary`, as people write it."""

    inv_freq: Tensor

    def __init__(self, dim: int, device: Device = None) -> None:
        super().__init__()
        self.register_buffer("inv_freq", frequencies(dim).to(device), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.inv_freq.repeat(2)


def tokens() -> Tensor:
    return torch.tensor([[0, 1, 2, 3], [4, 5, 6, 7]])


def eager() -> Llm:
    """The model that every life cycle has to end with, whatever the default dtype is meanwhile."""
    torch.manual_seed(0)
    made = Llm(dtype=torch.float32)
    with torch.no_grad():
        for block in made.blocks:
            block.seen.fill_(3)
    return made


def checkpoint() -> dict[str, Tensor]:
    """What somebody saved of it."""
    return {name: tensor.clone() for name, tensor in eager().state_dict().items()}


def spoiled_memory() -> None:
    """Let memory that is allocated next hold NaN, as it would after some training."""
    held = [torch.full((size,), float("nan")) for size in (1, 4, 8, 64, 104) for _ in range(200)]
    del held


_PREFIXES = ("_fsdp_wrapped_module.", "_orig_mod.", "_checkpoint_wrapped_module.", "module.", "base_model.model.")


def plain_name(name: str) -> str:
    """A name without what wrappers add to it."""
    for prefix in _PREFIXES:
        name = name.replace(prefix, "")
    return name


def whole(tensor: Tensor) -> Tensor:
    """A tensor with the parts that other processes hold."""
    return (tensor.full_tensor() if isinstance(tensor, DTensor) else tensor).detach()


def tensors(model: nn.Module) -> dict[str, Tensor]:
    """Parameters and buffers by their plain names, tied ones by both."""
    held = (*model.named_parameters(remove_duplicate=False), *model.named_buffers())
    return {plain_name(name): each for name, each in held}


def unequal(model: nn.Module, expected: Mapping[str, Tensor]) -> list[str]:
    """The tensors of a model that have other values than is expected, and both."""
    given = tensors(model)
    found = [(name, given.get(name), tensor) for name, tensor in expected.items()]
    return [
        f"{name}: {'on meta' if now is not None and now.is_meta else now} instead of {tensor}"
        for name, now, tensor in found
        if now is None or now.is_meta or not torch.equal(whole(now), tensor.to(now.dtype))
    ]


DTYPES = (torch.float32, torch.bfloat16)
"""Those to which trainers cast; the second shows in the dtype of everything that is not kept."""
COLUMNS = ("buffers", "ties", "dtypes", "values", "names")


def broken(model: nn.Module, cast: torch.dtype) -> dict[str, list[str]]:
    """What is wrong with a model after a life cycle with a cast, by the columns of the matrix."""
    found, expected = tensors(model), eager()
    floating = {name: each.dtype for name, each in found.items() if each.is_floating_point()}
    kept = {name for name in floating if "router" in name or "inv_freq" in name}
    return {
        "buffers": unequal(model, dict(expected.named_buffers())),
        "ties": [] if found["head"] is found["embed.weight"] else ["head is not embed.weight"],
        "dtypes": [
            f"{name} is {has}" for name, has in floating.items() if has != (torch.float32 if name in kept else cast)
        ],
        "values": unequal(model, dict(expected.named_parameters(remove_duplicate=False))),
        "names": sorted({plain_name(name) for name in model.state_dict()} ^ set(checkpoint())),
    }
