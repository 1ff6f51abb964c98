"""Bases and methods that other libraries and their users bring: protocols, LightningModule, `__getattr__`, `nn.Linear` first."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
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


Made = Callable[[], nn.Module]


class PlainBase(nn.Module):
    def doubled(self) -> int:
        return 2


class Base(Module):
    def doubled(self) -> int:
        return 2


class PlainOwn(nn.Linear, PlainBase):
    def __init__(self, dim: int) -> None:
        super().__init__(dim, 2 * dim)
        self.gain = nn.Parameter(torch.randn(dim))


class Own(nn.Linear, Base):
    def __init__(self, dim: int) -> None:
        super().__init__(dim, 2 * dim)
        self.gain = nn.Parameter(torch.randn(dim))


class PlainKept(nn.Linear, PlainBase): ...


class Kept(nn.Linear, Base, init=False): ...


class PlainList(nn.ModuleList, PlainBase): ...  # pyright: ignore[reportIncompatibleVariableOverride] # torch's own


class List(nn.ModuleList, Base, init=False): ...  # pyright: ignore[reportIncompatibleVariableOverride] # torch's own


CASES: list[tuple[Made, Made]] = [
    (lambda: PlainOwn(3), lambda: Own(3)),
    (lambda: PlainKept(3, 4, bias=False), lambda: Kept(3, 4, bias=False)),
    (lambda: PlainList([nn.Linear(2, 2)]), lambda: List([nn.Linear(2, 2)])),
]


@pytest.mark.parametrize(("plain", "declared"), CASES, ids=["own", "kept", "list"])
def test_it_is_constructed_as_the_plain_one(plain: Made, declared: Made) -> None:
    torch.manual_seed(0)
    expected, draw = plain(), torch.rand(1)
    torch.manual_seed(0)
    module, drawn = declared(), torch.rand(1)

    assert drawn == draw
    for each in (module, copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert list(each.state_dict()) == list(expected.state_dict())
        assert all(map(torch.equal, each.state_dict().values(), expected.state_dict().values()))
        assert each.doubled() == 2  # type: ignore[operator] # the attribute of any module


class Cooperative(nn.Module):
    """Passes on what it gets, as LightningModule does."""

    def __init__(self, *args: object, **keywords: object) -> None:
        super().__init__(*args, **keywords)
        self.seen = [name for name, _ in self.named_parameters()]


class Wide(Module):
    width: int
    weight: nn.Parameter = param("width", initializer=nn.init.ones_)


class Taught(Cooperative, Wide):
    """Without fields of its own."""


class Deep(Cooperative, Wide):
    depth: int
    bias: nn.Parameter = param("depth", initializer=nn.init.zeros_)

    def forward(self) -> Tensor:
        return self.weight.sum() + self.bias.sum()


class Deeper(Deep):
    """Below a class that has both."""


def test_fields_of_the_declared_base_are_registered_once_behind_the_library() -> None:
    assert (Taught(3).seen, list(Taught(3).state_dict())) == ([], ["weight"])
    for cls in (Deep, Deeper):
        module = cls(3, depth=2)
        assert (module.seen, list(module.state_dict()), module.width, module.depth) == ([], ["weight", "bias"], 3, 2)
        assert module() == 3


LOOKED_FOR = frozenset(
    """
    active_adapter active_adapters base_model config floating_point_ops generation_config get_input_embeddings
    get_output_embeddings gradient_checkpointing_enable hf_device_map hf_quantizer is_gradient_checkpointing is_loaded_in_4bit
    is_loaded_in_8bit is_parallelizable is_quantized main_input_name model_parallel name_or_path peft_config
    prepare_inputs_for_generation push_to_hub quantization_method save_pretrained supports_gradient_checkpointing tie_weights
    trainer warnings_issued
    """.split()
)
"""What peft, transformers, accelerate, diffusers and Lightning ask of a model with `hasattr` or `getattr`."""


class Scaled(Module):
    dim: int
    weight: nn.Parameter = param("dim", initializer=nn.init.ones_)


def test_module_adds_no_name_that_libraries_look_for() -> None:
    assert {name for name in LOOKED_FOR if hasattr(Scaled(2), name)} == set()
