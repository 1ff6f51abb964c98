"""A small vision transformer."""

import torch
from qten_gen import Module, ModuleList, buffer, check, derived, param, submodule
from torch import Tensor, nn
from torch.nn import functional


class Attention(Module):
    """Self-attention over patches."""

    width: int
    heads: int = 2
    dropout: float = 0.0
    check("width % heads == 0")
    norm: nn.LayerNorm = submodule(nn.LayerNorm, "width")
    qkv: nn.Linear = submodule(nn.Linear, "width", "3 * width", bias=False)
    out: nn.Linear = submodule(nn.Linear, "width", "width")  # mixes the heads
    drop: nn.Dropout = submodule(nn.Dropout, "dropout")

    def forward(self, x: Tensor) -> Tensor:
        query, key, value = self.qkv(self.norm(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(query, key, value)
        mixed: Tensor = self.drop(self.out(seen.transpose(1, 2).flatten(2)))
        return x + mixed


class Perceptron(Module):
    width: int
    growth: int = 4
    hidden: int = derived("width * growth")
    norm: nn.LayerNorm = submodule(nn.LayerNorm, "width")
    up: nn.Linear = submodule(nn.Linear, "width", "hidden")
    down: nn.Linear = submodule(nn.Linear, "hidden", "width")

    def __post_init__(self) -> None:
        nn.init.zeros_(self.down.weight)

    def forward(self, x: Tensor) -> Tensor:
        refined: Tensor = self.down(functional.gelu(self.up(self.norm(x))))
        return x + refined


class Block(Module):
    width: int
    heads: int
    attention: Attention = submodule(Attention, "width", "heads")
    perceptron: Perceptron = submodule(Perceptron, "width")

    def forward(self, x: Tensor) -> Tensor:
        x = self.attention(x)
        return x + self.perceptron(x)


class Vision(Module):
    """Images of shape `(batch, 3, side, side)` to scores of shape `(batch, classes)`."""

    side: int = 16
    patch: int = 4
    width: int = 16
    depth: int = 2
    heads: int = 2
    classes: int = 5
    patches: int = derived("(side // patch) ** 2")
    cut: nn.Conv2d = submodule(nn.Conv2d, 3, "width", kernel_size="patch", stride="patch")
    first: nn.Parameter = param(1, 1, "width", initializer=nn.init.zeros_)
    positions: nn.Parameter = param(value=lambda module: 0.02 * torch.randn(1, module.patches + 1, module.width))
    blocks: ModuleList[Block] = submodule(Block, "width", "heads", repeat="depth")
    norm: nn.LayerNorm = submodule(nn.LayerNorm, "width")
    head: nn.Linear = submodule(nn.Linear, "width", "classes")
    mean: Tensor = buffer(value=lambda module: torch.full((3, 1, 1), 0.5), persistent=False)

    def forward(self, images: Tensor) -> Tensor:
        x = self.cut(images - self.mean).flatten(2).transpose(1, 2)
        x = torch.cat([self.first.expand(len(x), -1, -1), x], 1) + self.positions
        for block in self.blocks:
            x = block(x)
        return torch.as_tensor(self.head(self.norm(x)[:, 0]))
