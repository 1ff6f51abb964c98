"""Modules derived from modules."""

from __future__ import annotations

from abc import ABC, abstractmethod

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Module, buffer, param, submodule, virtual


class Base(Module):
    rows: int
    weight: nn.Parameter = param("rows", initializer=nn.init.ones_)
    count: Tensor = buffer(initializer=nn.init.zeros_)

    @virtual(cached=True)
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
