"""Modules for TorchScript, which reads the annotations of a class and knows no annotation that is a string."""

import torch
from torch import Tensor, nn

from qten_gen import Module, buffer, param, submodule


class Linear(Module):
    """A module that TorchScript understands."""

    rows: int
    cols: int
    weight: nn.Parameter = param("rows", "cols", initializer=nn.init.ones_)
    scale: Tensor = buffer("rows", initializer=nn.init.ones_)

    def forward(self, x: Tensor) -> Tensor:
        return torch.matmul(x, self.weight.t()) * self.scale / self.rows


class PlainLinear(nn.Module):
    """`Linear`, written by hand."""

    scale: Tensor

    def __init__(self, rows: int, cols: int) -> None:
        super().__init__()
        self.rows = rows
        self.weight = nn.Parameter(torch.ones(rows, cols))
        self.register_buffer("scale", torch.ones(rows))

    def forward(self, x: Tensor) -> Tensor:
        return torch.matmul(x, self.weight.t()) * self.scale / self.rows


class Annotated(Module):
    """A child with its type."""

    linear: nn.Linear = submodule(nn.Linear, 4, 4)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.linear(x)
        return out


class PlainAnnotated(nn.Module):
    """`Annotated`, written by hand."""

    linear: nn.Linear

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.linear(x)
        return out
