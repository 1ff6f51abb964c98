"""The generated constructor: arguments, configuration, inherited fields, and what `help()` says of it."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import json
import pickle
from abc import ABC, abstractmethod
from importlib import import_module
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Module, buffer, field, param, submodule, virtual
from qten_gen.emit.module import init_doc
from qten_gen.model import ModuleDecl
from tests.emit.declared import linked
from tests.generated_sources import generated_sources
from tests.golden.kinds.modules import Nested, Sizes

from .declared import Block


def test_config_fields_are_ordinary_attributes() -> None:
    block = Block(4, heads=3)
    assert (block.dim, block.heads) == (4, 3)
    assert Block(4).heads == 2


def test_repr_shows_the_constructor_arguments() -> None:
    assert repr(Block(4)).splitlines()[1] == "  dim=4, heads=2"


def test_unknown_attributes_are_reported() -> None:
    with pytest.raises(AttributeError, match="'Block' object has no attribute 'wieght'"):
        Block(4).wieght  # type: ignore[attr-defined] # noqa: B018 # what the test is about


def test_a_wrong_argument_is_reported_with_the_class() -> None:
    with pytest.raises(TypeError, match=r"Block.__init__\(\) missing 1 required positional argument: 'dim'"):
        Block()  # type: ignore[call-arg] # what the test is about


class Counted(Module):
    dim: int
    weight: nn.Parameter = param("dim", initializer=nn.init.ones_)
    lin: nn.Linear = submodule(nn.Linear, "dim", "dim")

    def __post_init__(self) -> None:
        if self.dim > 8:
            raise ValueError("dim is too large")
        self.calls = vars(self).get("calls", 0) + 1
        self.total = self.weight.sum().item() + self.lin.in_features


class CountedMore(Counted):
    bias: nn.Parameter = param("dim", initializer=nn.init.zeros_)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.total += self.bias.sum().item()


@pytest.mark.parametrize("cls", [Counted, CountedMore])
def test_post_init_runs_once_after_everything_is_initialised(cls: type[Counted]) -> None:
    counted = cls(2)

    assert counted.calls == 1 and counted.total == 4
    for twin in (copy.deepcopy(counted), pickle.loads(pickle.dumps(counted)), counted.to(torch.float64)):
        assert twin.calls == 1
    with pytest.raises(ValueError, match="dim is too large"):
        cls(9)


class Configured(Module):
    dim: int
    names: list[str] = field(default_factory=list)
    eps: float = field(default=1e-6, kw_only=True)
    weight: nn.Parameter = param("dim", initializer=nn.init.ones_)


def test_config_holds_the_constructor_arguments_in_order() -> None:
    assert list(Configured(3, eps=0.5).get_config().items()) == [("dim", 3), ("names", []), ("eps", 0.5)]


def test_a_config_goes_through_json() -> None:
    text = json.dumps(Configured(3, ["a"]).get_config())

    assert Configured.from_config(json.loads(text)).get_config() == {"dim": 3, "names": ["a"], "eps": 1e-6}


@dataclasses.dataclass
class Rope:
    base: float = 1e4


@dataclasses.dataclass
class Shape:
    dim: int
    rope: Rope | None = None
    ropes: list[Rope] = dataclasses.field(default_factory=list)
    by_name: dict[str, tuple[Rope, ...]] = dataclasses.field(default_factory=dict)


class Shaped(Module):
    shape: Shape
    extra: dict[str, int] = field(default_factory=dict)
    weight: nn.Parameter = param("shape.dim", initializer=nn.init.ones_)


def test_a_nested_config_goes_through_json_and_loads_by_weights_only(tmp_path: Path) -> None:
    shape = Shape(3, Rope(5.0), [Rope(6.0)], {"far": (Rope(7.0), Rope())})
    plain = {**Shaped(shape, {"a": 1}).get_config(), "shape": dataclasses.asdict(shape)}
    torch.save(plain, tmp_path / "config.pt")
    for given in (json.loads(json.dumps(plain)), torch.load(tmp_path / "config.pt", weights_only=True)):
        again = Shaped.from_config(given)
        assert again.get_config() == {"shape": shape, "extra": {"a": 1}}
    with pytest.raises(TypeError, match="dims"):
        Shaped.from_config({"shape": {"dims": 3}})


def test_an_unknown_argument_is_an_error_that_names_it() -> None:
    with pytest.raises(TypeError, match="dims"):
        Configured.from_config({"dims": 3})


def test_field_refuses_a_default_and_a_factory_together() -> None:
    with pytest.raises(TypeError, match="takes default= or default_factory=, not both"):
        field(default=1, default_factory=int)  # type: ignore[call-overload] # what the test is about


class Base(Module):
    rows: int
    weight: nn.Parameter = param("rows", initializer=nn.init.ones_)
    count: Tensor = buffer(initializer=nn.init.zeros_)

    @virtual(cached=True)
    def doubled_rows(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.full((2,), 2 * self.rows, dtype=dtype, device=device)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight


class Negative(Base):
    weight: nn.Parameter = param("rows", 2, initializer=lambda tensor: tensor.fill_(-1))


def test_a_field_can_be_overridden() -> None:
    negative = Negative(3)
    assert negative.weight.shape == (3, 2)
    assert negative.weight.eq(-1).all()
    assert Base(3).weight.eq(1).all()


def test_an_abstract_base_cannot_be_constructed() -> None:
    class Abstract(Module, ABC):
        rows: int

        @abstractmethod
        def forward(self, x: Tensor) -> Tensor: ...

    class Concrete(Abstract):
        cols: int = 2

        def forward(self, x: Tensor) -> Tensor:
            return x * self.cols

    with pytest.raises(TypeError, match="abstract"):
        Abstract(1)  # type: ignore[abstract] # pyright: ignore[reportAbstractUsage] # what the test is about
    assert torch.equal(Concrete(1)(torch.ones(2)), torch.full((2,), 2.0))


def test_abstract_methods_keep_a_module_from_being_constructed_without_an_abc_too() -> None:
    class Passing(Module):
        @abstractmethod
        def update(self, x: Tensor) -> Tensor: ...

    with pytest.raises(TypeError, match="abstract.* update"):
        Passing()  # type: ignore[abstract] # pyright: ignore[reportAbstractUsage] # what the test is about


def test_the_constructor_says_its_arguments() -> None:
    said = inspect.getdoc(Sizes.__init__) or ""
    assert said.startswith("Construct the module on `device`, its floating point tensors with `dtype`;")


def test_an_argument_has_the_docstring_of_its_field() -> None:
    text = 'class Net(Module):\n    dim: int\n    """How wide.\n\n    Of all rows."""\n    depth: int\n'
    (file,) = linked(shop__model=text).values()
    (declaration,) = file.declarations
    assert isinstance(declaration, ModuleDecl)
    assert init_doc(declaration).endswith("\n\nArgs:\n    dim: How wide.\n\n        Of all rows.")


def test_a_field_says_its_shape() -> None:
    assert inspect.getdoc(Sizes.steps) == "Buffer of shape `(rows,)`."
    assert inspect.getdoc(Sizes.scalar) == "Parameter of shape `()`."
    assert inspect.getdoc(Nested.norm) == "`nn.LayerNorm`."


def test_a_field_of_a_generated_class_says_what_its_docstring_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(generated_sources())
    generated = import_module("kinds.modules")
    assert inspect.getdoc(generated.Sizes.steps) == "How often each row was seen.\n\nBuffer of shape `(rows,)`."
