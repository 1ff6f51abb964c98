"""Logical devices, and what every Module can do with its labelled tensors there. Sentences in quotes are QTen's."""

import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from qten_gen import Device, DeviceBounded, Functional, Module, nograd_tensors, param
from qten_gen.runtime.qten_style import devices

from .declared import Framed, Model, NodePath, Outer, labelled


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


@pytest.mark.parametrize("make", [Device, Device.new])
@pytest.mark.parametrize("written", ["tpu", "cuda", "gpu:", "gpu:x", "gpu:-1", "gpu:²", "cpu:0", "gpu:0:1", ""])
def test_an_unknown_name_is_an_error_that_lists_the_valid_ones(written: str, make: Callable[[str], Device]) -> None:
    with pytest.raises(ValueError, match=r"names are cpu, gpu, gpu:<index> and meta"):
        make(written)


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
    place = NodePath(Device("cpu"))
    assert place.gpu(3).device == Device("gpu", 3)
    assert place.gpu().device == Device("gpu")
    assert place.gpu().cpu().device == Device("cpu")
    assert place.device == Device("cpu")


def test_a_module_is_a_functional_a_module_of_torch_and_bounded_to_a_device() -> None:
    """ "Bases: Functional, Module, DeviceBounded" """
    assert issubclass(Module, Functional | nn.Module | devices.DeviceBounded)
    assert all(issubclass(Module, base) for base in (Functional, nn.Module, devices.DeviceBounded))


def test_the_device_is_that_of_the_tensors() -> None:
    model = Model()
    model.to("meta")
    assert model.device == Device("meta")
    assert Outer().to("meta").device == Device("meta")


def test_a_module_without_tensors_remembers_where_it_was_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Device, "torch_device", lambda self: torch.device("meta"))
    empty = Module()
    assert empty.gpu(1) is empty
    assert empty.device == Device("gpu", 1)
    assert empty.cpu().device == Device("cpu")


def test_to_device_moves_the_module_itself() -> None:
    """ "Returns: This module after the move." """
    outer = Outer()
    held = outer.inner.weight
    assert outer.to_device(Device("meta")) is outer
    assert held.data.is_meta and outer.inner.basis.data.is_meta and outer.inner.linear.weight.is_meta
    assert outer.inner.device == Device("meta")


def test_cpu_and_gpu_move_the_module_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Model()
    assert model.cpu() is model
    monkeypatch.setattr(devices, "_BACKENDS", {"cuda": lambda: False})
    with pytest.raises(RuntimeError, match="no gpu"):
        model.gpu()


def test_export_names_what_cannot_be_exported() -> None:
    """ "AttributeError: If the module has no attribute named name. TypeError: If the named attribute is not a Tensor." """
    with pytest.raises(AttributeError, match="no attribute 'wieght'"):
        Model().export("wieght")
    with pytest.raises(TypeError, match=r"Model\.linear is not a LabelledTensor but Linear"):
        Model().export("linear")


def test_a_module_that_stands_twice_in_the_tree_is_exported_under_both_names() -> None:
    outer = Outer()
    setattr(outer, "again", outer.inner)  # noqa: B010
    assert {"inner.weight", "again.weight"} <= set(outer.export_all())


def test_freeze_and_unfreeze_are_for_parameters_of_the_whole_tree() -> None:
    """ "Buffer-backed tensor state declared via @nograd_tensors(...) is not registered as parameters and therefore remains
    unaffected." """
    outer = Outer()
    assert outer.freeze() is outer
    assert not any(parameter.requires_grad for parameter in outer.parameters())
    assert outer.unfreeze() is outer
    assert all(parameter.requires_grad for parameter in outer.parameters())
    assert not outer.inner.basis.requires_grad


def test_declarations_with_labelled_tensors_are_generated_from_text(project: Any) -> None:
    project.write(
        model="""
        from torch import Tensor
        from qten_gen import LabelledTensor, Module, nograd_tensors

        @nograd_tensors("frame")
        class Framed(Module):
            frame: LabelledTensor
            factor: float = 2.0

            def forward(self, x: Tensor) -> Tensor:
                return x @ self.frame.data * self.factor

        class Written(Module):
            weight: LabelledTensor

            def __init__(self, weight: LabelledTensor) -> None:
                super().__init__()
                self.weight = weight
                self.framed = Framed(weight)
        """
    )
    project.generate()
    model = project.load("model")
    written = model.Written(labelled())
    assert list(written.state_dict()) == ["tensor:weight", "framed.buffer:frame"]
    assert list(written.export_all()) == ["weight", "framed.frame"]


def test_the_decorator_stands_above_generated_classes_too() -> None:
    @nograd_tensors("frame")
    class Fixed(Framed):
        pass

    assert list(Fixed(labelled()).state_dict()) == ["buffer:frame"]


def test_compiled_code_reads_the_device_of_a_module() -> None:
    class Shifted(Module):
        shift: nn.Parameter = param(2, initializer=nn.init.ones_)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + self.shift if self.device == Device("cpu") else x

    torch.compiler.reset()
    compiled = torch.compile(Shifted(), fullgraph=True, backend="eager")
    assert compiled(torch.ones(2)).tolist() == [2, 2]
