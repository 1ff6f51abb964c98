"""What somebody writes first who has not read the pages."""

from torch import nn

from qten_gen import Module, submodule


class Conv(Module):
    dim: int


class Net(Module):
    dim: int
    depth: int
    first: Conv = Conv(dim)
    layers: nn.ModuleList = nn.ModuleList([Conv(dim) for _ in range(depth)])
    more: nn.ModuleList[Conv] = submodule(Conv, "dim", repeat="depth")
    head: nn.Linear = submodule(nn.Linear, dim, 10)
