"""Logical devices."""

import pickle

import pytest
import torch

from qten_gen import Device, DeviceBounded
from qten_gen.runtime.qten_style import devices


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """A machine that has one kind of gpu, or none."""
    has = request.param
    monkeypatch.setattr(devices, "_BACKENDS", {name: lambda name=name: name == has for name in ("cuda", "mps", "xpu")})
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 2)
    monkeypatch.setattr(torch.xpu, "current_device", lambda: 2)
    return str(has)


@pytest.mark.parametrize("written", ["cpu", "gpu", "gpu:0", "gpu:12", "meta"])
def test_a_device_is_written_as_it_is_read(written: str) -> None:
    assert str(Device.new(written)) == written


def test_a_device_is_a_value() -> None:
    assert Device("gpu", 1) == Device.new("gpu:1")
    assert len({Device("cpu"), Device.new("cpu"), Device("gpu")}) == 2
    assert pickle.loads(pickle.dumps(Device("gpu", 1))) == Device("gpu", 1)


@pytest.mark.parametrize("written", ["tpu", "cuda", "gpu:", "gpu:x", "gpu:-1", "gpu:²", "cpu:0", "gpu:0:1", ""])
def test_an_unknown_name_is_an_error_that_lists_the_valid_ones(written: str) -> None:
    with pytest.raises(ValueError, match=r"names are cpu, gpu, gpu:<index> and meta"):
        Device.new(written)


def test_a_name_given_to_the_constructor_is_checked_too() -> None:
    with pytest.raises(ValueError, match=r"'tpu'; the names are cpu, gpu, gpu:<index> and meta"):
        Device("tpu")


def test_cpu_and_meta_are_the_same_everywhere() -> None:
    assert Device("cpu").torch_device() == torch.device("cpu")
    assert Device("meta").torch_device() == torch.device("meta")


@pytest.mark.parametrize("backend", ["cuda", "xpu"], indirect=True)
def test_gpu_means_what_the_machine_has(backend: str) -> None:
    """\"If not provided, the current device will be used.\""""
    assert Device("gpu", 1).torch_device() == torch.device(backend, 1)
    assert Device("gpu").torch_device() == torch.device(backend, 2)


@pytest.mark.parametrize("backend", ["mps"], indirect=True)
def test_a_backend_with_one_gpu_takes_no_index(backend: str) -> None:
    """\"This should only be set when the target GPU backend supports multiple devices\""""
    assert Device("gpu").torch_device() == torch.device("mps")
    with pytest.raises(ValueError, match="gpu:1 is not a device: mps has one gpu"):
        Device("gpu", 1).torch_device()


@pytest.mark.parametrize("backend", ["none"], indirect=True)
def test_a_machine_without_gpu_says_what_it_looked_for(backend: str) -> None:
    with pytest.raises(RuntimeError, match="no gpu: cuda, mps, xpu are not available"):
        Device("gpu").torch_device()


@pytest.mark.parametrize("accelerator", ["cuda", "mps", "xpu"])
def test_every_accelerator_is_a_gpu(accelerator: str) -> None:
    assert Device.of(torch.device(accelerator, 1)) == Device("gpu", 1)
    assert Device.of(torch.device("cpu", 0)) == Device("cpu")


def test_a_bounded_class_has_to_say_where_it_is_and_how_it_moves() -> None:
    class Nowhere(DeviceBounded):
        pass

    with pytest.raises(NotImplementedError, match="Nowhere does not say where it is"):
        _ = Nowhere().device
    with pytest.raises(NotImplementedError, match="Nowhere cannot be moved"):
        Nowhere().cpu()


def test_cpu_and_gpu_are_moves_to_these_devices() -> None:
    """\"A copy of this object on the specified GPU device.\""""

    class NodePath(DeviceBounded):
        def __init__(self, device: Device) -> None:
            self.at = device

        @property
        def device(self) -> Device:
            return self.at

        def to_device(self, device: Device) -> "NodePath":
            return NodePath(device)

    place = NodePath(Device("cpu"))
    assert place.gpu(3).device == Device("gpu", 3)
    assert place.gpu().device == Device("gpu")
    assert place.gpu().cpu().device == Device("cpu")
    assert place.device == Device("cpu")
