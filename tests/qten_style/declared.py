"""Modules in the style of QTen's documentation, with their own `__init__`."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from qten_gen import Device, DeviceBounded, LabelledTensor, Module, nograd_tensors

DIMS = ("row", "column")


def labelled(value: float = 1.0, dtype: torch.dtype | None = None) -> LabelledTensor:
    """A labelled 3 by 3 matrix, the identity times a number."""
    return LabelledTensor(torch.eye(3, dtype=dtype) * value, DIMS)


@nograd_tensors("basis")
class Model(Module):
    """A parameter, a buffer, and a child of torch."""

    weight: LabelledTensor
    basis: LabelledTensor

    def __init__(self) -> None:
        super().__init__()
        self.weight = labelled(2.0)
        self.basis = labelled(3.0)
        self.linear = nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.linear(x @ self.weight.data) @ (self.basis * 2).data
        return out


class Outer(Module):
    """A model inside a model."""

    def __init__(self) -> None:
        super().__init__()
        self.gain = labelled(5.0)
        self.inner = Model()
        self.layers = nn.ModuleList([Model()])


class Framed(Module):
    """Its construction is generated, and takes a labelled tensor."""

    frame: LabelledTensor
    factor: float = 2.0

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.frame.data * self.factor


class NodePath(DeviceBounded):
    """Something that remembers where it is."""

    def __init__(self, device: Device) -> None:
        self.at = device

    @property
    def device(self) -> Device:
        return self.at

    def to_device(self, device: Device) -> NodePath:
        return NodePath(device)
