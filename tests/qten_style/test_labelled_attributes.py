"""What assigning a labelled tensor to a module means. Sentences in quotes are those of QTen's documentation."""

import pytest
import torch
from torch import nn

from qten_gen import (
    TENSOR_BUFFER_PREFIX,
    TENSOR_PARAM_PREFIX,
    Device,
    LabelledTensor,
    Module,
    nograd_tensors,
    param,
)

from .declared import DIMS, Framed, Model, NodePath, Outer, labelled


def test_the_prefixes_are_the_documented_ones() -> None:
    assert (TENSOR_PARAM_PREFIX, TENSOR_BUFFER_PREFIX) == ("tensor:", "buffer:")


def test_a_buffer_has_no_part_in_the_graph_of_what_was_assigned() -> None:
    """ "copies detached data into module-owned buffer storage rather than registering it as a PyTorch parameter." """
    model = Model()
    model.basis = labelled().attach() * 2
    assert not model.basis.requires_grad
    assert torch.equal(model.basis.data, torch.eye(3) * 2)


@pytest.mark.parametrize("value", [None, 3, torch.ones(2), nn.Parameter(torch.ones(2)), nn.Linear(2, 2)], ids=type)
def test_another_value_removes_the_registration(value: object) -> None:
    """ "If a non-Tensor value replaces a previously wrapped tensor attribute, the hidden parameter/buffer registration is
    removed." """
    model = Model()
    setattr(model, "weight", value)  # noqa: B010
    setattr(model, "basis", value)  # noqa: B010
    assert model.weight is value and model.basis is value
    assert not [key for key in model.state_dict() if ":" in key]


@pytest.mark.parametrize("value", [None, 3, torch.ones(2), nn.Parameter(torch.ones(2)), nn.Linear(2, 2)], ids=type)
def test_a_labelled_tensor_replaces_any_value(value: object) -> None:
    model = Model()
    setattr(model, "other", value)  # noqa: B010
    setattr(model, "other", labelled())  # noqa: B010
    assert list(model.state_dict()) == ["tensor:weight", "tensor:other", "buffer:basis", "linear.weight", "linear.bias"]
    assert model.export("other").dims == DIMS


def test_a_labelled_tensor_replaces_a_registered_buffer() -> None:
    model = Model()
    model.register_buffer("mean", torch.ones(2))
    setattr(model, "mean", labelled())  # noqa: B010
    assert "mean" not in model.state_dict() and "tensor:mean" in model.state_dict()


def test_deleting_the_attribute_removes_its_storage() -> None:
    """ "Delete an attribute and remove any hidden tensor storage tied to it." """
    model = Model()
    held = model.weight
    del model.weight
    del model.basis
    assert list(model.state_dict()) == ["linear.weight", "linear.bias"]
    assert not hasattr(model, "weight")
    with pytest.raises(AttributeError, match="'Model' object has no attribute 'weight'"):
        del model.weight
    with pytest.raises(AttributeError, match="tensor:weight"):
        _ = held.data
    model.weight = labelled(7.0)
    assert torch.equal(model.weight.data, torch.eye(3) * 7)


def test_one_instance_says_nothing_about_another() -> None:
    first, second = Model(), Model()
    del first.weight
    first.weight = labelled(9.0)
    assert torch.equal(second.weight.data, torch.eye(3) * 2)

    class Flagged(Module):
        extra = "in the class"

        def __init__(self, own: bool) -> None:
            super().__init__()
            if own:
                setattr(self, "extra", labelled())  # noqa: B010

    plain, owning = Flagged(False), Flagged(True)
    assert plain.extra == "in the class"
    assert isinstance(owning.extra, LabelledTensor)
    del owning.extra
    assert owning.extra == "in the class"


def test_a_property_of_the_class_takes_what_is_assigned_to_it() -> None:
    class Guarded(Module):
        def __init__(self) -> None:
            super().__init__()
            self.seen: list[object] = []

        @property
        def weight(self) -> object:
            return self.seen

        @weight.setter
        def weight(self, value: object) -> None:
            self.seen.append(value)

    guarded = Guarded()
    guarded.weight = labelled()
    assert len(guarded.seen) == 1 and not guarded.state_dict()


def test_integers_cannot_be_a_parameter() -> None:
    model = Model()
    with pytest.raises(TypeError, match=r'Model\.weight: .*torch\.int64 has no gradients.*@nograd_tensors\("weight"\)'):
        model.weight = LabelledTensor(torch.arange(3), ("k",))
    model.basis = LabelledTensor(torch.arange(3), ("k",))
    assert model.basis.dtype == torch.int64


def test_the_names_of_several_parents_are_joined() -> None:
    @nograd_tensors("first")
    class First(Module):
        pass

    @nograd_tensors("second")
    class Second(Module):
        pass

    class Both(First, Second):
        pass

    assert Both.__nograd_tensors__ == {"first", "second"}
    assert Module.__nograd_tensors__ == frozenset()


def test_the_decorator_refuses_what_it_cannot_mean() -> None:
    with pytest.raises(ValueError, match="'no name' is not the name of an attribute"):
        nograd_tensors("no name")
    with pytest.raises(TypeError, match="takes names of attributes, got 3"):
        nograd_tensors(3)  # type: ignore[arg-type] # the mistake under test
    with pytest.raises(TypeError, match="decorates a Module class, got <class 'torch"):
        nograd_tensors("weight")(nn.Linear)  # type: ignore[type-var]


def test_generated_construction_keeps_the_assignment_of_nn_module() -> None:
    """FSDP2 swaps parameters faster where this holds."""
    torch_sets: object = nn.Module.__setattr__
    assert Framed.__setattr__ is torch_sets
    assert Model.__setattr__ is not torch_sets


def test_a_declared_parameter_does_not_take_a_labelled_tensor() -> None:
    class Declared(Module):
        weight: nn.Parameter = param(3, initializer=nn.init.ones_)

    with pytest.raises(TypeError, match="as parameter 'weight'"):
        Declared().weight = labelled()  # type: ignore[assignment] # the mistake under test


@pytest.mark.parametrize("module", [Model(), Framed(labelled())], ids=["own __init__", "generated"])
def test_what_is_bounded_to_a_device_is_moved_to_the_modules_first(module: Module) -> None:
    """ "Any assigned DeviceBounded value is moved to self.device first." """
    setattr(module, "place", NodePath(Device("gpu", 3)))  # noqa: B010
    place = getattr(module, "place")  # noqa: B009
    assert place.device == module.device == Device("cpu")


def test_nothing_is_moved_from_or_to_meta() -> None:
    model = Model()
    model.weight = LabelledTensor(torch.empty(3, device="meta"), ("k",))
    assert model.weight.data.is_meta
    outer = Outer()
    outer.inner = Model().to("meta")
    assert outer.inner.weight.data.is_meta
    with torch.device("meta"):
        assert Model().weight.data.is_meta
