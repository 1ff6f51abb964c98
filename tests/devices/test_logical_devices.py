"""Logical devices, labelled tensors and virtual tensors on a GPU."""

from __future__ import annotations

import pytest
import torch

from qten_gen import Device, LabelledTensor, Module, VirtualTensor, fake_mode, nograd_tensors


@nograd_tensors("basis")
class Model(Module):
    """A parameter, a buffer and a virtual tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = LabelledTensor(torch.ones(3), ("k",))
        self.basis = LabelledTensor(torch.ones(3), ("k",))
        self.twice = VirtualTensor(self, "twice", lambda module, dtype, device: module.weight.data * 2)


class Holder(Module):
    """Is given everything later."""

    def __init__(self) -> None:
        super().__init__()


def test_gpu_is_the_cuda_device() -> None:
    assert Device("gpu").torch_device() == torch.device("cuda", 0)
    assert Device.new("gpu:0").torch_device() == torch.device("cuda", 0)


def test_wrappers_and_virtual_tensors_follow_a_module_there_and_back() -> None:
    model = Model()
    weight, basis, twice = model.weight, model.basis, model.twice
    assert model.gpu(0) is model
    assert model.device == weight.device == basis.device == Device("gpu", 0)
    assert twice.value.is_cuda and twice.device.type == "cuda"
    model.cpu()
    assert model.device == weight.device == basis.device == Device("cpu")
    assert not twice.value.is_cuda


def test_what_is_assigned_is_moved_to_the_modules_device_first() -> None:
    holder = Holder().gpu(0)
    setattr(holder, "child", Model())  # noqa: B010
    setattr(holder, "late", LabelledTensor(torch.ones(3), ("k",)))  # noqa: B010
    assert {parameter.device for parameter in holder.parameters()} == {torch.device("cuda", 0)}
    on_cpu = Holder()
    setattr(on_cpu, "late", LabelledTensor(torch.ones(3, device="cuda"), ("k",)))  # noqa: B010
    assert on_cpu.device == Device("cpu")
    assert not next(on_cpu.parameters()).is_cuda


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without CUDA")
def test_gpu_is_an_error_without_one(cuda: bool) -> None:
    assert cuda
    with fake_mode():
        assert Device("gpu").torch_device().type == "cuda", "the context around this one has it"
