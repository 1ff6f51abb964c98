"""Modules for TorchScript, which reads the annotations of a class and knows no annotation that is a string."""

import torch
from torch import Tensor, nn

from qten_gen import Module, buffer, param


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
