"""The style of QTen's documentation, and virtual tensors, as checkers see them."""

from typing import Any, assert_type

import torch
from torch import Tensor, nn

from qten_gen import Device, DeviceBounded, FrozenDict, LabelledTensor, Module, VirtualTensor, nograd_tensors


@nograd_tensors("basis")
class Model(Module):
    weight: LabelledTensor
    basis: LabelledTensor

    def __init__(self, rank: int) -> None:
        super().__init__()
        self.weight = LabelledTensor(torch.ones(rank), ("rank",))
        self.basis = LabelledTensor(data=torch.ones(rank), dims=["rank"])
        self.decay = VirtualTensor(self, "decay", "_decay")

    def _decay(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.exp(-self.weight.data).to(device, dtype)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.decay.value


class Framed(Module):
    frame: LabelledTensor
    factor: float = 1.0


model = Model(3)
assert_type(model.weight, LabelledTensor)
assert_type(model.weight.data, Tensor)
assert_type(model.weight.grad, LabelledTensor | None)
assert_type(model.weight * 2 + model.basis, LabelledTensor)
assert_type(1 - model.weight, LabelledTensor)
assert_type(-model.weight, LabelledTensor)
assert_type(model.weight.attach().detach().cpu(), LabelledTensor)
assert_type(model.export("weight"), LabelledTensor)
assert_type(model.export_all(), FrozenDict[str, LabelledTensor])
assert_type(model.freeze().unfreeze(), Model)
assert_type(model.to_device(Device.new("gpu:1")).cpu().gpu(0), Model)
assert_type(model.device, Device | Any)
assert_type(model.device.torch_device(), torch.device | Any)
assert_type(model.decay, VirtualTensor)
assert_type(model.decay.value, Tensor)
assert_type(model.decay.owner, nn.Module | None)
assert_type(model.decay.attributes.ref, str)
assert_type(Model(2), Model)
assert_type(Framed(model.weight, factor=2.0, device="cpu"), Framed)
assert_type(Framed(model.weight).frame, LabelledTensor)
model.weight = model.basis
model.decay.dtype = torch.float16
VirtualTensor.create(nn.Linear(1, 1), "doubled", lambda linear, dtype, device: linear.weight * 2)
bounded: DeviceBounded = model
also: DeviceBounded = model.weight

model.weight.data = torch.ones(3)  # E
model.weight.dims = ("rank",)  # E
model.weight + "1"  # E
model.weight = torch.ones(3)  # E
model.decay = torch.ones(3)  # E
model.decay.value = torch.ones(3)  # E
model.device = Device("cpu")  # E
model.to_device("cpu")  # E
model.wieght  # E
LabelledTensor(torch.ones(3))  # E
LabelledTensor([1.0], ("rank",))  # E
Framed(torch.ones(3))  # E
model.export_all()["weight"] = model.weight  # E
nograd_tensors("weight")(nn.Linear)  # E
nograd_tensors(3)  # E
VirtualTensor(model, "v", lambda module: torch.ones(1))  # E
VirtualTensor.create(model, "v", 3)  # E
