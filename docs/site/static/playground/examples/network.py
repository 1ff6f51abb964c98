"""Repeated children, a choice, an optional parameter."""

from typing import Literal

from torch import Tensor, nn

from qten_gen import Module, ModuleList, choice, param, submodule


class Block(Module):
    """A layer with a residual connection."""

    width: int
    norm: nn.LayerNorm = submodule(nn.LayerNorm, "width")
    inner: nn.Linear = submodule(nn.Linear, "width", "4*width")
    outer: nn.Linear = submodule(nn.Linear, "4*width", "width")

    def forward(self, x: Tensor) -> Tensor:
        return x + self.outer(self.inner(self.norm(x)).relu())


class Network(Module):
    """As many blocks as asked for."""

    width: int
    depth: int = 4
    classes: int = 10
    act: Literal["relu", "gelu"] = "gelu"
    bias: bool = True
    blocks: ModuleList[Block] = submodule(Block, "width", repeat="depth")
    activation: nn.ReLU | nn.GELU = submodule(choice("act", {"relu": nn.ReLU, "gelu": nn.GELU}))
    head: nn.Parameter = param("classes", "width", initializer=nn.init.xavier_uniform_)
    shift: nn.Parameter | None = param("classes", when="bias", initializer=nn.init.zeros_)

    def forward(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = block(x)
        return nn.functional.linear(self.activation(x), self.head, self.shift)
