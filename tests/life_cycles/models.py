"""A small language model with all that a trainer may lose, declared and as people write it, and what must hold of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import torch
from torch import Tensor, nn
from torch.distributed.tensor import DTensor
from torch.types import Device

from qten_gen import Module, ModuleList, buffer, param, submodule

VOCAB, DIM = 12, 8


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

    def geometric(self, tensor: Tensor) -> None:
        tensor.copy_(2.0 ** -torch.arange(self.dim).float())

    def forward(self, x: Tensor) -> Tensor:
        routed: Tensor = self.router(self.rotary(x).float() @ self.mask.float())
        out: Tensor = self.proj(routed.to(x.dtype) * self.slopes)
        return out


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


class PlainLlm(nn.Module):
    """`Llm`, as people write it."""

    def __init__(self, device: Device = None) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCAB, DIM, device=device)
        self.rotary = PlainRotary(DIM, device=device)
        self.head = nn.Linear(DIM, VOCAB, bias=False, device=device)
        self.head.weight = self.embed.weight

    def forward(self, tokens: Tensor) -> Tensor:
        out: Tensor = self.head(self.rotary(self.embed(tokens)))
        return out


def tokens() -> Tensor:
    return torch.tensor([[0, 1, 2, 3], [4, 5, 6, 7]])


def eager() -> Llm:
    """The model that every life cycle has to end with."""
    torch.manual_seed(0)
    made = Llm()
    with torch.no_grad():
        for block in made.blocks:
            block.seen.fill_(3)
    return made


def checkpoint() -> dict[str, Tensor]:
    """What somebody saved of it."""
    return {name: tensor.clone() for name, tensor in eager().state_dict().items()}


def spoiled_memory() -> None:
    """Let memory that is allocated next hold NaN, as it would after some training."""
    held = [torch.full((size,), float("nan")) for size in (1, 4, 8, 64, 96) for _ in range(200)]
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


def _unequal(found: Mapping[str, Tensor], expected: Mapping[str, Tensor]) -> Iterator[str]:
    for name, tensor in expected.items():
        now = found.get(name)
        if now is None or now.is_meta or not torch.equal(whole(now), tensor.to(now.dtype)):
            yield f"{name}: {'on meta' if now is not None and now.is_meta else now} instead of {tensor}"


def buffers(model: nn.Module) -> list[str]:
    found = {plain_name(name): tensor for name, tensor in model.named_buffers()}
    return [*_unequal(found, dict(eager().named_buffers()))]


def ties(model: nn.Module) -> list[str]:
    found = {plain_name(name): id(each) for name, each in model.named_parameters(remove_duplicate=False)}
    return [] if found["head"] == found["embed.weight"] else ["head is not embed.weight"]


def dtypes(model: nn.Module) -> list[str]:
    kept = [*model.named_parameters(), *model.named_buffers()]
    wrong = [f"{name} is {each.dtype}" for name, each in kept if "router" in name or "inv_freq" in name]
    return [each for each in wrong if not each.endswith("float32")]


def values(model: nn.Module) -> list[str]:
    found = {plain_name(name): each for name, each in model.named_parameters(remove_duplicate=False)}
    return [*_unequal(found, dict(eager().named_parameters(remove_duplicate=False)))]


def names(model: nn.Module) -> list[str]:
    found, expected = {plain_name(name) for name in model.state_dict()}, set(checkpoint())
    return [f"{sorted(found ^ expected)} differ"] if found != expected else []


INVARIANTS: dict[str, Callable[[nn.Module], list[str]]] = {
    "buffers": buffers,
    "ties": ties,
    "dtypes": dtypes,
    "values": values,
    "names": names,
}
"""What must be true of a model after any life cycle; each gives what is not."""


def broken(model: nn.Module) -> dict[str, list[str]]:
    """What is wrong with a model, by invariant."""
    return {name: holds(model) for name, holds in INVARIANTS.items()}
