"""Virtual tensors of any module: their attributes, copies, files, compiled code and moves."""

import copy
import gc
import io
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Module, VirtualTensor
from qten_gen.runtime.qten_style.virtual_tensor import VirtualTensorAttributes


class Decay(nn.Module):
    """A plain module with a virtual tensor computed by a method."""

    def __init__(self, persist: bool = False, dtype: torch.dtype | None = None) -> None:
        super().__init__()
        self.rate = nn.Parameter(torch.ones(3))
        self.factor = VirtualTensor(self, "factor", "_factor", dtype=dtype, persist=persist)

    def _factor(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.exp(-self.rate).to(device, dtype)

    @staticmethod
    def fixed(dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.ones(1)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.factor.value


class Empty(nn.Module):
    """Nothing of its own."""


class Declared(Module):
    """A declared module with generated construction, which takes virtual tensors too."""

    rate: float = 1.0


def twice(module: nn.Module, dtype: torch.dtype, device: torch.device) -> Tensor:
    return torch.full((2,), 2.0)


def test_the_linked_attributes_are_named() -> None:
    """ "_{name}_ref, the data type and device reference tensor." """
    factor = Decay().factor
    assert VirtualTensor.LinkedAttributes is VirtualTensorAttributes
    assert factor.attributes == VirtualTensorAttributes(ref="_factor_ref")
    assert factor.name == "factor"


def test_the_owner_is_the_module_while_the_attribute_exists() -> None:
    """ "owner of the attribute if it exists." """
    decay = Decay()
    factor = decay.factor
    assert factor.owner is decay
    del decay.factor
    assert factor.owner is None
    with pytest.raises(AttributeError, match="Decay has no virtual tensor 'factor' any more"):
        _ = factor.value
    assert repr(factor) == "VirtualTensor(Decay.factor, deleted)"


def test_dtype_and_device_follow_the_module() -> None:
    decay = Decay()
    assert (decay.factor.dtype, decay.factor.device) == (torch.float32, torch.device("cpu"))
    held = decay.factor
    decay.half()
    assert held.dtype == held.value.dtype == torch.float16
    decay.to("meta")
    assert held.device == held.value.device == torch.device("meta")


def test_dtype_and_device_can_be_set() -> None:
    """ "Sets dtype and/or device for the reference tensor." """
    decay = Decay()
    decay.factor.dtype = torch.float64
    assert decay.factor.value.dtype == torch.float64
    decay.factor.device = torch.device("meta")
    assert decay.factor.value.is_meta
    decay.factor.to("cpu", dtype=torch.bfloat16)
    assert (decay.factor.value.dtype, decay.factor.device.type) == (torch.bfloat16, "cpu")


def test_the_result_is_cast_where_the_function_did_not() -> None:
    """ "This should be considered a fallback in the event the materializer fails to ensure the output is of the specified
    data type" """
    module = Empty()
    VirtualTensor.create(module, "v", twice, dtype=torch.int32)
    assert getattr(module, "v").value.dtype == torch.int32  # noqa: B009


def test_functions_of_torch_take_it_for_its_value() -> None:
    factor = Decay().factor
    assert torch.allclose(torch.sum(factor), factor.value.sum())  # type: ignore[call-overload] # torch's signatures
    assert torch.stack([factor, factor]).shape == (2, 3)  # type: ignore[list-item]


REFUSED: list[tuple[str, Any, type[Exception], str]] = [
    ("v", "missing", AttributeError, "Decay has no attribute 'missing'"),
    ("v", "rate", TypeError, "rate is not a method"),
    ("v", "fixed", TypeError, "fixed is not a method"),
    ("v", 3, TypeError, "a function or the name of a method, got int"),
    *((name, twice, ValueError, "is not the name of an attribute") for name in ("no name", "1st", "", "class", "a.b")),
    *(
        (name, twice, AttributeError, f"Decay has an attribute '{name}' already")
        for name in ("rate", "forward", "training", "fixed")
    ),
    ("taken", twice, AttributeError, "'_taken_ref' already"),
]


@pytest.mark.parametrize(("name", "materializer", "error", "message"), REFUSED)
def test_a_name_or_a_materializer_that_cannot_be_one_is_refused(
    name: str, materializer: Any, error: type[Exception], message: str
) -> None:
    """ "AttributeError - string materializer must be an attribute of owner. TypeError - attribute specified by materializer
    must be a method." """
    decay = Decay()
    decay.register_buffer("_taken_ref", torch.ones(1))
    with pytest.raises(error, match=message):
        VirtualTensor(decay, name, materializer)
    assert [name for name, _ in decay.named_buffers()] == ["_factor_ref", "_taken_ref"]


def test_the_owner_has_to_be_a_module() -> None:
    with pytest.raises(TypeError, match="belongs to an nn.Module, got dict"):
        VirtualTensor({}, "v", twice)  # type: ignore[type-var, arg-type] # the mistake under test


def test_a_materializer_has_to_give_a_tensor() -> None:
    decay = Decay()
    VirtualTensor.create(decay, "v", lambda module, dtype, device: 3)  # type: ignore[arg-type, return-value]
    with pytest.raises(TypeError, match=r"Decay\.v: expected a tensor, got int"):
        _ = getattr(decay, "v").value  # noqa: B009


@pytest.mark.parametrize("value", [torch.ones(3), 3, None], ids=["tensor", "number", "None"])
@pytest.mark.parametrize("make", [Decay, Declared])
def test_assigning_another_value_is_an_error(make: type[nn.Module], value: object) -> None:
    module = make()
    if make is Declared:
        VirtualTensor.create(module, "factor", twice)
    with pytest.raises(TypeError, match=rf"{make.__name__}\.factor is a virtual tensor.* cannot be set to"):
        setattr(module, "factor", value)  # noqa: B010
    assert isinstance(getattr(module, "factor"), VirtualTensor)  # noqa: B009


def test_a_module_assigned_to_it_is_an_error_when_the_attribute_is_read() -> None:
    """nn.Module registers a child without asking the class."""
    decay = Decay()
    setattr(decay, "factor", nn.Linear(1, 1))  # noqa: B010
    with pytest.raises(TypeError, match=r"Decay\.factor is a virtual tensor: a module was assigned to it"):
        _ = decay.factor
    del decay.factor
    assert torch.equal(decay.factor.value, torch.exp(-decay.rate))


def test_a_declared_module_with_its_own_constructor_refuses_everything_at_once() -> None:
    class Own(Module):
        def __init__(self) -> None:
            super().__init__()
            self.v = VirtualTensor(self, "v", twice)

    for value in (nn.Parameter(torch.ones(1)), nn.Linear(1, 1), VirtualTensor(Own(), "w", twice)):
        with pytest.raises(TypeError, match="virtual tensor"):
            setattr(Own(), "v", value)  # noqa: B010


def test_a_virtual_tensor_of_another_attribute_is_refused() -> None:
    decay, other = Decay(), Decay()
    with pytest.raises(TypeError, match=r"Decay\.factor cannot be a virtual tensor that was made for Decay\.factor"):
        decay.factor = other.factor
    declared = Declared()
    with pytest.raises(TypeError, match=r"Declared\.w cannot be a virtual tensor that was made for Declared\.v"):
        setattr(declared, "w", VirtualTensor(declared, "v", twice))  # noqa: B010


def test_the_value_and_the_name_cannot_be_set() -> None:
    factor = Decay().factor
    for name in ("value", "name", "owner", "anything"):
        with pytest.raises(AttributeError):
            setattr(factor, name, torch.ones(1))


def test_deleting_the_attribute_removes_what_was_added() -> None:
    decay = Decay()
    del decay.factor
    assert not hasattr(decay, "factor") and not hasattr(decay, "_factor_ref")
    with pytest.raises(AttributeError):
        del decay.factor


def test_creating_it_anew_under_the_same_name_is_safe() -> None:
    decay = Decay()
    old = decay.factor
    decay.factor = VirtualTensor(decay, "factor", twice, dtype=torch.float64)
    assert old.owner is None
    del old
    gc.collect()
    assert decay.factor.value.dtype == torch.float64
    first = VirtualTensor(decay, "other", twice)
    second = VirtualTensor(decay, "other", twice)
    del first
    gc.collect()
    assert hasattr(decay, "_other_ref") and second.owner is decay


def test_one_instance_says_nothing_about_another() -> None:
    first, second = nn.Linear(1, 1), nn.Linear(1, 1)
    VirtualTensor.create(first, "extra", twice)
    assert not hasattr(second, "extra")
    setattr(second, "extra", 3)  # noqa: B010
    assert vars(second)["extra"] == 3 == getattr(second, "extra")  # noqa: B009
    setattr(second, "extra", nn.Linear(1, 1))  # noqa: B010
    assert isinstance(getattr(second, "extra"), nn.Linear)  # noqa: B009


def pickled(module: Decay) -> Decay:
    loaded: Decay = pickle.loads(pickle.dumps(module))
    return loaded


def saved(module: Decay) -> Decay:
    file = io.BytesIO()
    torch.save(module, file)
    file.seek(0)
    loaded: Decay = torch.load(file, weights_only=False)
    return loaded


@pytest.mark.parametrize("persist", [False, True])
@pytest.mark.parametrize("copied", [copy.deepcopy, pickled, saved])
def test_a_copy_has_a_virtual_tensor_of_its_own(copied: Callable[[Decay], Decay], persist: bool) -> None:
    decay = Decay(persist)
    VirtualTensor.create(decay, "other", twice)
    made = copied(decay)
    with torch.no_grad():
        made.rate.zero_()
    made.double()
    assert made.factor.owner is made
    assert torch.equal(made.factor.value, torch.ones(3, dtype=torch.float64))
    assert torch.equal(getattr(made, "other").value, torch.full((2,), 2.0, dtype=torch.float64))  # noqa: B009
    assert torch.equal(decay.factor.value, torch.exp(-torch.ones(3)))
    del made.factor
    assert decay.factor.owner is decay


def test_a_copy_of_the_virtual_tensor_belongs_to_a_copy_of_the_module() -> None:
    decay = Decay()
    made = copy.deepcopy(decay.factor)
    assert isinstance(made.owner, Decay) and made.owner is not decay
    assert torch.equal(made.value, decay.factor.value)


def test_only_a_persistent_reference_is_in_the_state_dict() -> None:
    assert list(Decay().state_dict()) == ["rate"]
    assert list(Decay(persist=True).state_dict()) == ["rate", "_factor_ref"]


@pytest.mark.parametrize("assign", [False, True])
def test_loading_restores_dtype_and_device_of_a_persistent_reference(assign: bool) -> None:
    """ "persist: if the buffer which stores the dtype and device should persist across the state dictionary." """
    source = Decay(persist=True)
    source.factor.dtype = torch.float64
    target = nn.Sequential(Decay(persist=True), Decay(persist=True))
    state = {f"{index}.{name}": value for index in (0, 1) for name, value in source.state_dict().items()}
    target.load_state_dict(state, assign=assign)
    for child in target:
        assert isinstance(child, Decay)
        assert child.factor.value.dtype == torch.float64
        assert child.rate.dtype == torch.float32


def test_compiled_code_reads_the_value_without_a_break() -> None:
    decay, x = Decay(), torch.ones(3)
    compiled = torch.compile(decay, fullgraph=True, backend="eager")
    assert torch.equal(compiled(x), decay(x))
    with torch.no_grad():
        decay.rate.zero_()
    assert torch.equal(compiled(x), x)
