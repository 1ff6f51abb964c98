"""Modules with bases and methods that other libraries and their users bring: protocols, LightningModule, `__getattr__`."""

from __future__ import annotations

import copy
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

import pytest
import torch
from torch import Tensor, nn

from qten_gen import LabelledTensor, Module, buffer, param, submodule

T = TypeVar("T")


class Trained(nn.Module):
    """Does what LightningModule does: an `__init__` with attributes of its own, a torch-typed `device`, a `to` that keeps it."""

    call_super_init: bool = True

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self._device = torch.device("cpu")
        self._trainer: object | None = None

    @property
    def device(self) -> torch.device:
        return self._device

    def to(self, *args: Any, **keywords: Any) -> Any:
        moved: Any = super().to(*args, **keywords)
        self._device = next(self.parameters()).device
        return moved

    def log(self, value: float) -> Tensor:
        return torch.tensor(value, device=self.device)


class Loss(Module):
    dim: int
    weight: nn.Parameter = param("dim", initializer=nn.init.ones_)

    def forward(self, x: Tensor) -> Tensor:
        return (x * self.weight).sum()


class First(Module, Trained):  # type: ignore[misc] # two kinds of device
    dim: int
    loss: Loss = submodule(Loss, "dim")
    scale: Tensor = buffer("dim", initializer=nn.init.ones_)

    def forward(self, x: Tensor) -> Tensor:
        return self.loss(x * self.scale)


class Last(Trained, Module):
    dim: int
    loss: Loss = submodule(Loss, "dim")
    scale: Tensor = buffer("dim", initializer=nn.init.ones_)

    def forward(self, x: Tensor) -> Tensor:
        return self.loss(x * self.scale)


class Further(First):
    extra: nn.Parameter = param("dim", initializer=nn.init.zeros_)


@pytest.mark.parametrize("cls", [First, Last, Further])
def test_a_module_base_of_another_library_is_constructed_too(cls: Any) -> None:
    net = cls(3)

    assert net._trainer is None and net.dim == 3
    assert net.device == torch.device("cpu") and net.log(2.0).item() == 2
    assert net.to("meta").device == torch.device("meta") and net.loss.weight.is_meta


class OwnDevice(Module):
    """Its `device` is that of its first parameter, as many modules have it, and fails without one."""

    def __init__(self) -> None:
        super().__init__()
        self.first = Loss(2)
        self.labelled = LabelledTensor(torch.ones(2), ("x",))
        self.second = Loss(2)

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device


def test_a_device_of_the_class_itself_may_be_one_of_torch() -> None:
    net = OwnDevice()
    net.second = Loss(3)

    assert net.device == torch.device("cpu")
    assert net.cpu() is net and net.to("meta").device == torch.device("meta")


@runtime_checkable
class Runs(Protocol):
    dim: int

    def forward(self, x: Tensor) -> Tensor: ...

    def run(self) -> Tensor:
        return self.forward(torch.ones(self.dim))


class Running(Module, Runs, Generic[T]):
    dim: int
    weight: nn.Parameter = param("dim", initializer=nn.init.ones_)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.weight


class RunningFirst(Runs, Module):
    dim: int

    def forward(self, x: Tensor) -> Tensor:
        return 2 * x


def test_a_module_may_implement_a_protocol() -> None:
    assert Running[int](2).run().tolist() == [2, 2] and RunningFirst(2).run().tolist() == [2, 2]
    assert isinstance(Running(2), Runs) and isinstance(Running(2), nn.Module) and not isinstance(Loss(2), Runs | int)


class Delegating(Module):
    """Reads from a child what it does not have, as wrappers of models do."""

    dim: int
    inner: Loss = submodule(Loss, "dim")
    weight: nn.Parameter = param("dim", initializer=nn.init.ones_)
    scale: Tensor | None = buffer("dim", when="scaled", initializer=nn.init.ones_)
    scaled: bool = False

    def __getattr__(self, name: str) -> Any:  # type: ignore[override] # declared names only, to a type checker
        try:
            return nn.Module.__getattr__(self, name)
        except AttributeError:
            return getattr(self.inner, name)


def test_a_getattr_of_the_class_is_not_asked_for_its_fields() -> None:
    net = Delegating(3)
    twin = copy.deepcopy(net)
    twin.load_state_dict(net.state_dict())

    assert net.scale is None and list(net.state_dict()) == ["weight", "inner.weight"]
    assert twin.to(torch.float64).weight.dtype == torch.float64
    with pytest.raises(AttributeError, match="'Loss' object has no attribute 'missing'"):
        _ = net.missing
