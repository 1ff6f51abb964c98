"""What cannot be recorded is refused when it happens, by name and line; what comes after the context is never lost."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.linalg import LinAlgError  # type: ignore[attr-defined] # torch does not list it
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils.dlpack import from_dlpack

from qten_gen import deferred_init, fake_mode, materialize_module, materialize_tensor
from qten_gen.runtime.deferred.errors import DeferredError


class Subclass(Tensor):
    """A subclass that knows nothing of deferral."""


def _in_a_thread(tensor: Tensor) -> None:
    errors: list[Exception] = []

    def work() -> None:
        try:
            tensor.mul_(2)
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    raise errors[0]


def _without_modes(tensor: Tensor) -> None:
    with _disable_current_modes():
        tensor.mul_(2)


OUTSIDE = torch.ones(3)


def _without_dispatch(tensor: Tensor) -> None:
    with torch._C._DisableTorchDispatch():
        tensor.mul_(2)


REFUSED: dict[str, tuple[Callable[[Tensor], object], str]] = {
    "data_ptr": (lambda x: x.data_ptr(), "cannot record data_ptr(): the tensor has no memory yet"),
    "pin_memory": (lambda x: x.pin_memory(), "cannot record pin_memory(): the tensor has no memory yet"),
    "share_memory_": (
        lambda x: x.share_memory_(),  # type: ignore[no-untyped-call] # torch gives it no types
        "cannot record share_memory_(): the tensor has no memory yet",
    ),
    "dlpack": (lambda x: from_dlpack(x), "cannot record dlpack: the tensor has no memory yet"),
    "set_ to a storage": (
        lambda x: torch.empty(0).set_(x.untyped_storage()),
        "cannot record aten.set_.source_Storage: it takes the memory of a tensor itself; pass the tensor",
    ),
    "as_subclass": (
        lambda x: x.as_subclass(Subclass),
        "aten.alias.default was called on a deferred tensor where deferred_init cannot record it",
    ),
    "to_sparse": (lambda x: x.to_sparse(), "its result is not a strided tensor"),
    "another thread": (
        _in_a_thread,
        "aten.mul_.Tensor was called on a deferred tensor where deferred_init cannot record it",
    ),
    "modes switched off": (
        _without_modes,
        "aten.mul_.Tensor was called on a deferred tensor where deferred_init cannot record it",
    ),
    "dispatch switched off": (
        _without_dispatch,
        "cannot record mul_ on a tensor of size (3,): modes are switched off there",
    ),
    "data of a tensor from outside": (
        lambda x: setattr(OUTSIDE, "data", x),
        "cannot record `tensor.data = value`: the tensor is from outside, and the value is not there yet",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_recorded_is_refused_by_name_and_line(name: str) -> None:
    operation, message = REFUSED[name]
    with pytest.raises(DeferredError) as caught:
        deferred_init(lambda: operation(torch.randn(3)))
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{__file__}:")


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
@pytest.mark.parametrize(
    "made", ["the module itself", "a submodule", "traced", "in a list", "in a dictionary of tuples", "in a closure"]
)
def test_a_module_of_torchscript_is_refused_and_leaves_the_generator_alone(made: str) -> None:
    def construct() -> nn.Module:
        layer = nn.Linear(2, 2)
        if made == "traced":
            return _traced(layer)
        holder = nn.Sequential(layer)
        scripted = _scripted(nn.Linear(2, 2))
        if made.startswith("in "):
            places: dict[str, object] = {"in a list": [scripted], "in a closure": lambda: scripted}
            vars(holder)["parts"] = places.get(made, {"a": (scripted,)})
            return holder
        return _scripted(layer) if made == "the module itself" else nn.Sequential(_scripted(layer))

    before = torch.get_rng_state()
    with pytest.raises(DeferredError) as caught:
        deferred_init(construct)
    assert str(caught.value).startswith(f"{__file__}:")
    assert "cannot record the TorchScript module Linear: its tensors cannot be replaced; script it after" in str(
        caught.value
    )
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
def test_a_module_of_torchscript_from_outside_stays_as_it_is() -> None:
    outside = _scripted(nn.Linear(2, 2))
    module = deferred_init(lambda: nn.Sequential(outside, nn.Linear(2, 2)))
    materialize_module(module)
    assert module[0] is outside and module(torch.ones(1, 2)).shape == (1, 2)


def _scripted(module: nn.Module) -> nn.Module:
    made: nn.Module = torch.jit.script(module)
    return made


def _traced(module: nn.Module) -> nn.Module:
    made: nn.Module = torch.jit.trace(module, torch.ones(1, 2))  # type: ignore[no-untyped-call] # torch gives it no types
    return made


def test_the_line_is_that_of_the_user() -> None:
    def construct() -> None:
        layer = nn.Linear(2, 2)
        layer.weight.data_ptr()

    with pytest.raises(DeferredError) as caught:
        deferred_init(construct)
    assert str(caught.value).startswith(f"{construct.__code__.co_filename}:{construct.__code__.co_firstlineno + 2}: ")


AFTER: dict[str, Callable[[nn.Linear], object]] = {
    "half": lambda module: module.half(),
    "double": lambda module: module.double(),
    "a call": lambda module: module(torch.ones(1, 2)),
    "arithmetic": lambda module: module.weight + 1,
    "an update in place": lambda module: module.weight.data.fill_(1),
    "an initializer": lambda module: nn.init.ones_(module.weight),
    "item": lambda module: module.weight[0, 0].item(),
    "a condition": lambda module: bool(module.bias[0] > 0),
    "tolist": lambda module: module.weight.tolist(),
    "state_dict": lambda module: module.state_dict(),
    "to_empty": lambda module: module.to_empty(device="cpu"),
    "cuda": lambda module: module.cuda(),
    "in fake mode": lambda module: fake_mode()(lambda: module.weight * 2)(),
    "clone": lambda module: torch.clone(module.weight),
    "a deep copy": lambda module: copy.deepcopy(module),
}


@pytest.mark.parametrize("name", AFTER)
def test_an_operation_after_the_context_is_an_error(name: str) -> None:
    module = deferred_init(nn.Linear, 2, 3)
    with pytest.raises(
        DeferredError, match="was called on a deferred tensor, after deferred_init returned, so it cannot"
    ) as caught:
        AFTER[name](module)
    assert str(caught.value).startswith(f"{__file__}:")
    materialize_module(module)
    assert module(torch.ones(1, 2)).shape == (1, 3)


def test_loading_into_a_deferred_module_is_an_error_that_says_so() -> None:
    module = deferred_init(nn.Linear, 2, 3)
    with pytest.raises(RuntimeError, match="after deferred_init returned, so it cannot be recorded"):
        module.load_state_dict({"weight": torch.ones(3, 2), "bias": torch.ones(3)})


def test_a_tensor_of_another_call_is_refused() -> None:
    other = deferred_init(torch.ones, 3)
    with pytest.raises(DeferredError, match="made by another deferred_init or fake_mode; materialize it before"):
        deferred_init(lambda: other * 2)
    with fake_mode():
        fake = torch.ones(3)
    with pytest.raises(DeferredError, match="made by another deferred_init or fake_mode"):
        deferred_init(lambda: torch.ones(3) * fake)


def test_a_tensor_from_outside_that_changes_is_an_error_when_its_values_are_needed() -> None:
    outside = torch.ones(3)
    deferred = deferred_init(lambda: torch.zeros(3) + outside)
    outside.add_(1)
    with pytest.raises(
        DeferredError, match="a tensor from outside, which aten.add.Tensor read there, was changed in place"
    ):
        materialize_tensor(deferred)


def test_a_tensor_from_outside_that_the_constructor_changes_keeps_its_earlier_values_for_earlier_operations() -> None:
    outside = torch.ones(3)

    def construct() -> tuple[Tensor, Tensor]:
        before = torch.zeros(3) + outside
        outside.add_(1)
        return before, torch.zeros(3) + outside

    before, after = deferred_init(construct)
    assert materialize_tensor(after).tolist() == [2, 2, 2]
    assert materialize_tensor(before).tolist() == [1, 1, 1]


def test_content_that_is_exchanged_after_the_context_is_an_error() -> None:
    module = deferred_init(nn.Linear, 2, 2)
    module.weight.data = torch.ones(2, 2)
    with pytest.raises(DeferredError, match="did not see what made the tensor of size"):
        materialize_module(module)


def test_a_device_that_does_not_exist_is_the_error_of_the_constructor() -> None:
    if torch.cuda.is_available():
        return
    with pytest.raises((AssertionError, RuntimeError), match="CUDA"):
        deferred_init(nn.Linear, 2, 2, device="cuda")


def test_a_check_of_values_raises_in_the_constructor() -> None:
    with pytest.raises(LinAlgError):
        deferred_init(lambda: torch.linalg.inv(torch.zeros(2, 2)))


def test_what_an_operation_raises_when_it_is_carried_out_has_a_note_with_the_line() -> None:
    def construct() -> Tensor:
        return torch.tensor([0.0, 1.0])[torch.tensor([5])]

    deferred = deferred_init(construct)
    with pytest.raises(IndexError) as caught:
        materialize_tensor(deferred)
    place = f"{construct.__code__.co_filename}:{construct.__code__.co_firstlineno + 1}"
    assert [note.split("recorded at ")[1] for note in caught.value.__notes__] == [place]
