"""What somebody writes who knows dataclasses and nn.Module, and has not read the pages."""

from torch import nn

from qten_gen import Module, TensorClass, param, submodule


class Graph(TensorClass):
    label: int


class Conv(Module):
    dim: int
    bias: nn.Parameter = param("dim")


class Net(Module):
    dim: int
    depth: int
    first: Conv = Conv(dim)
    layers: nn.ModuleList = nn.ModuleList([Conv(dim) for _ in range(depth)])
    more: nn.ModuleList[Conv] = submodule(Conv, "dim", repeat="depth")
    head: nn.Linear = submodule(nn.Linear, dim, 10)
