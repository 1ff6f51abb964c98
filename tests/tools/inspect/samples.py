"""Models to inspect: declared and plain ones, with annotated shapes that are true and some that are not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from qten_gen import Module, ModuleList, TensorClass, buffer, param, submodule

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int


class Batch(TensorClass):
    """Tokens, and which of them count."""

    tokens: Int[Tensor, "*batch seq"]
    mask: Bool[Tensor, "*batch seq"] | None = None


class Attention(Module):
    """Attention without a softmax."""

    width: int
    heads: int
    qkv: nn.Linear = submodule(nn.Linear, "width", "3*width")
    scale: Tensor = buffer("heads", persistent=False, initializer=nn.init.ones_)

    def forward(
        self, x: Float[Tensor, "b t width"]
    ) -> tuple[Float[Tensor, "b heads t width//heads"], Float[Tensor, "b t 3*width"]]:
        """Queries of each head, and all three projections."""
        both: Tensor = self.qkv(x)
        queries = both[..., : self.width].reshape(*x.shape[:-1], self.heads, -1).transpose(1, 2)
        return queries * self.scale[:, None, None], both


class Net(Module):
    """Blocks between an embedding and a head that is tied to it."""

    width: int
    heads: int = 4
    depth: int = 3
    embedding: nn.Parameter = param(100, "width", initializer=nn.init.normal_)
    blocks: ModuleList[Attention] = submodule(Attention, "width", "heads", repeat="depth")
    norm: nn.LayerNorm = submodule(nn.LayerNorm, "width")
    head: nn.Parameter = param(tie="embedding")

    def forward(self, batch: Batch) -> Float[Tensor, "b t 100"]:
        """Logits."""
        x = nn.functional.embedding(batch.tokens, self.embedding)
        for block in self.blocks:
            x = x + block(x)[1][..., : self.width]
        normed: Tensor = self.norm(x)
        return nn.functional.linear(normed, self.head)


class Wrong(nn.Module):
    """A plain module whose annotations do not hold."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.width = width
        self.first = Half(width)
        self.second = Half(width)

    def forward(self, x: Float[Tensor, "b {self.width}"], y: Float[Tensor, "b 2 width-1"] | None = None) -> Tensor:
        """Halve twice."""
        halved: Tensor = self.second(self.first(x).repeat(1, 2))
        return halved


class Half(nn.Module):
    """Says that it keeps the width, and does not."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width
        self.linear = nn.Linear(width, width // 2)

    def forward(self, x: Int[Tensor, "*b width"]) -> Float[Tensor, "*b width"]:
        """The half."""
        halved: Tensor = self.linear(x)
        return halved


class Raises(nn.Module):
    """Multiplies matrices that do not fit."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(3, 4)
        self.outer = nn.Linear(5, 6)

    def forward(self, x: Tensor) -> Tensor:
        """Fail in the second."""
        result: Tensor = self.outer(self.inner(x))
        return result


@dataclass
class Settings:
    """A configuration object."""

    width: int
    dtype: torch.dtype = torch.float32
    inner: Settings | None = None


def of_settings(settings: Settings, layers: int = 1) -> nn.Sequential:
    """A model from a configuration object."""
    return nn.Sequential(*(nn.Linear(settings.width, settings.width, dtype=settings.dtype) for _ in range(layers)))


class ReadsValues(nn.Module):
    """Reads numbers out of tensors while it is made."""

    def __init__(self) -> None:
        super().__init__()
        self.rates = [float(value) for value in torch.linspace(0, 1, 3)]
        self.linear = nn.Linear(2, 3)


class Truncated(nn.Module):
    """Has an initialiser that reads values, and a tensor that `.to` does not know."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(nn.init.trunc_normal_(torch.empty(3, 3)))
        self.mask = torch.ones(3, 3)

    def forward(self, x: Tensor) -> Tensor:
        """A masked product."""
        return x @ (self.weight * self.mask)


class Shared(nn.Module):
    """Ties of every kind."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 4, bias=False)
        self.again = self.first
        self.tied = nn.Linear(4, 4, bias=False)
        self.tied.weight = self.first.weight
        self.scale = nn.Parameter(torch.ones(()), requires_grad=False)


made = nn.Linear(2, 3)

not_a_model = 3


def raises() -> nn.Module:
    """Refuse."""
    raise ValueError("no such model")


def makes_no_module() -> int:
    """A number."""
    return 3
