"""Modules derived from modules."""

from __future__ import annotations

from abc import ABC, ABCMeta, abstractmethod
from typing import Generic, TypeVar

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Module, buffer, param, submodule, virtual

M = TypeVar("M", bound=nn.Module)


class Base(Module):
    rows: int
    weight: nn.Parameter = param("rows", initializer=nn.init.ones_)
    count: Tensor = buffer(initializer=nn.init.zeros_)

    @virtual(cached=True, sources=("rows",))
    def doubled_rows(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.full((2,), 2 * self.rows, dtype=dtype, device=device)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight


class Wide(Base):
    cols: int = 3
    bias: nn.Parameter = param("rows*cols", initializer=nn.init.zeros_)
    norm: nn.LayerNorm = submodule(nn.LayerNorm, "cols")


class Negative(Base):
    weight: nn.Parameter = param("rows", 2, initializer=lambda tensor: tensor.fill_(-1))


def test_inherited_attributes_are_read_as_in_the_parent() -> None:
    wide = Wide(2, dtype=torch.float64)
    assert wide.weight is dict(wide.named_parameters())["weight"]
    assert wide.doubled_rows.tolist() == [4, 4]
    assert wide.doubled_rows.dtype is torch.float64


def test_a_field_can_be_overridden() -> None:
    negative = Negative(3)
    assert negative.weight.shape == (3, 2)
    assert negative.weight.eq(-1).all()
    assert Base(3).weight.eq(1).all()


def test_reset_parameters_covers_inherited_fields() -> None:
    wide = Wide(2)
    with torch.no_grad():
        wide.weight.fill_(7)
        wide.bias.fill_(7)
    wide.reset_parameters()
    assert wide.weight.eq(1).all() and wide.bias.eq(0).all()


def test_a_parents_own_reset_parameters_is_kept() -> None:
    class Halved(Module):
        weight: nn.Parameter = param(2, initializer=nn.init.ones_)

        def reset_parameters(self) -> None:
            super().reset_parameters()
            with torch.no_grad():
                self.weight.div_(2)

    class Extended(Halved):
        bias: nn.Parameter = param(2, initializer=nn.init.ones_)

    extended = Extended()
    assert extended.weight.tolist() == [0.5, 0.5]
    assert extended.bias.tolist() == [1, 1]


def test_a_constructor_of_its_own_can_call_the_generated_one() -> None:
    class Special(Base):
        extra: nn.Linear

        def __init__(self, rows: int) -> None:
            super().__init__(rows)
            self.extra = nn.Linear(rows, rows)

    special = Special(2)
    assert special(torch.ones(2)).shape == (2,)
    assert special.doubled_rows.tolist() == [4, 4]
    assert set(special.state_dict()) == {"weight", "count", "extra.weight", "extra.bias"}


def test_two_declared_parents_can_be_combined() -> None:
    class Left(Module):
        left: nn.Parameter = param(1, initializer=nn.init.ones_)

    class Right(Module):
        right: nn.Parameter = param(2, initializer=nn.init.ones_)

    class Both(Left, Right):
        pass

    assert {name: tuple(p.shape) for name, p in Both().named_parameters()} == {"left": (1,), "right": (2,)}
    assert Both().right.shape == (2,)


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


def test_abstract_methods_below_no_abc_do_not_keep_a_module_from_being_constructed() -> None:
    class Passing(Module):
        def __init__(self) -> None:
            super().__init__()

        @abstractmethod
        def update(self, x: Tensor) -> Tensor: ...

    class Conv(Passing):
        pass

    class Strict(Passing, ABC):
        @abstractmethod
        def message(self, x: Tensor) -> Tensor: ...

    assert isinstance(Conv(), Passing)  # type: ignore[abstract] # pyright: ignore[reportAbstractUsage] # nn.Module allows it
    with pytest.raises(TypeError, match="abstract.* message"):
        Strict()  # type: ignore[abstract] # pyright: ignore[reportAbstractUsage] # what the test is about


def test_a_module_that_names_abcmeta_asks_for_its_abstract_methods() -> None:
    class Backbone(Module, metaclass=ABCMeta):
        def __init__(self) -> None:
            super().__init__()

    class Middle(Backbone):
        @abstractmethod
        def stages(self) -> int: ...

    class Whole(Middle):
        def stages(self) -> int:
            return 3

    with pytest.raises(TypeError, match="abstract"):
        Middle()  # type: ignore[abstract] # pyright: ignore[reportAbstractUsage] # what the test is about
    assert Whole().stages() == 3


def test_a_base_without_fields_leaves_reset_parameters_to_the_constructor_of_a_subclass() -> None:
    class Select(Module):
        def reset_parameters(self) -> None: ...

    class TopK(Select):
        def __init__(self, size: int) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.empty(size))
            self.reset_parameters()

        def reset_parameters(self) -> None:
            nn.init.ones_(self.weight)

    assert TopK(2).weight.tolist() == [1.0, 1.0]


def test_a_module_can_be_generic() -> None:
    class Wrapped(Module, Generic[M]):
        inner: M
        gain: nn.Parameter = param(initializer=nn.init.ones_)

    wrapped = Wrapped(nn.Linear(2, 3))
    assert wrapped.inner.out_features == 3
    assert list(wrapped.state_dict()) == ["gain", "inner.weight", "inner.bias"]
    assert type(Wrapped[nn.Linear](nn.Linear(2, 3))) is Wrapped
