"""What every Module can do with its labelled tensors and its device. Sentences in quotes are those of QTen's documentation."""

from typing import Any

import pytest
import torch
from torch import nn

from qten_gen import Device, Functional, Module, nograd_tensors
from qten_gen.runtime.qten_style import devices

from .declared import Framed, Model, Outer, labelled


def test_a_module_is_a_functional_a_module_of_torch_and_bounded_to_a_device() -> None:
    """ "Bases: Functional, Module, DeviceBounded" """
    assert issubclass(Module, Functional | nn.Module | devices.DeviceBounded)
    assert all(issubclass(Module, base) for base in (Functional, nn.Module, devices.DeviceBounded))


def test_a_new_module_is_on_the_cpu() -> None:
    """ "default the logical device to CPU." """
    assert Module().device == Device("cpu")


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


def test_the_constructor_still_takes_a_device_of_torch() -> None:
    framed = Framed(labelled(), device=torch.device("cpu"), dtype=torch.float64)
    assert framed.device == Device("cpu")


def test_the_device_cannot_be_set() -> None:
    with pytest.raises(AttributeError, match="device"):
        Model().device = "cpu"  # type: ignore[misc] # pyright: ignore[reportAttributeAccessIssue] # the mistake under test


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
