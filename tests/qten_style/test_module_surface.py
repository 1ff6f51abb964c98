"""What every Module can do with its labelled tensors and its device. Sentences in quotes are those of QTen's documentation."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Device, FrozenDict, Functional, LabelledTensor, Module, nograd_tensors
from qten_gen.runtime.qten_style import devices

from .declared import DIMS, Framed, Model, Outer, labelled


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


def test_export_gives_a_detached_copy_with_the_same_labels() -> None:
    """ "A detached cloned tensor with the same dims as the module attribute." """
    model = Model()
    for name in ("weight", "basis"):
        exported, before = model.export(name), getattr(model, name).data.clone()
        with torch.no_grad():
            getattr(model, name).data.add_(1)
        model.double()
        assert type(exported) is LabelledTensor and exported.dims == DIMS
        assert not exported.requires_grad
        assert torch.equal(exported.data, before.float())


def test_export_names_what_cannot_be_exported() -> None:
    """ "AttributeError: If the module has no attribute named name. TypeError: If the named attribute is not a Tensor." """
    with pytest.raises(AttributeError, match="no attribute 'wieght'"):
        Model().export("wieght")
    with pytest.raises(TypeError, match=r"Model\.linear is not a LabelledTensor but Linear"):
        Model().export("linear")


def test_export_all_has_dotted_public_names() -> None:
    """ "keyed by public dotted attribute names, for example "weight" or "inner.basis"." """
    outer = Outer()
    setattr(outer, "_hidden", labelled())  # noqa: B010
    exported = outer.export_all()
    assert isinstance(exported, FrozenDict)
    assert list(exported) == ["gain", "inner.weight", "inner.basis", "layers.0.weight", "layers.0.basis"]
    assert not any(tensor.requires_grad for tensor in exported.values())
    assert "tensor:_hidden" in outer.state_dict()


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


class Box(Module):
    """Nothing declared."""


def test_a_module_is_a_container_of_optimizable_tensors() -> None:
    """ "assign the tensors you want PyTorch to manage as public attributes, optimize them through the module's parameter
    interface, and call export()" """
    box = Box()
    setattr(box, "weight", labelled(2.0))  # noqa: B010
    torch.optim.SGD(box.parameters(), lr=1.0).step(lambda: loss(box))
    assert torch.equal(box.export("weight").data, torch.eye(3) * 2 - 1)


def loss(module: nn.Module) -> float:
    total = sum((parameter.sum() for parameter in module.parameters()), torch.zeros(()))
    total.backward()  # type: ignore[no-untyped-call] # torch gives it no types
    return total.item()


def test_a_call_dispatches_on_labelled_tensors() -> None:
    class Scale(Module):
        factor: float = 2.0

        def forward(self, x: Tensor) -> Tensor:
            return x

    @Scale.register(LabelledTensor)
    def _(scale: Scale, x: LabelledTensor) -> LabelledTensor:
        return x * scale.factor

    made = Scale().invoke(labelled())
    assert isinstance(made, LabelledTensor) and torch.equal(made.data, torch.eye(3) * 2)


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
