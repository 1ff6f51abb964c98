"""Constructors that are written by hand, kept with `init=False`, and what `__post_init__` registers."""

from __future__ import annotations

from typing import Any, cast

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Module, field, param, submodule
from qten_gen.model.diagnostics import DeclarationError


class Base(Module):
    size: int

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.size = 2 * dim


class Child(Base, init=False):
    def halved(self) -> float:
        return self.size / 2


class Grandchild(Child, init=False):
    pass


@pytest.mark.parametrize("cls", [Child, Grandchild])
def test_the_constructor_of_the_parent_is_kept(cls: type[Child]) -> None:
    assert cls(3).halved() == 3.0


class Silent(Base):
    note: str = "kept"
    _cache: Tensor | None = None


class Sized(Module):
    size: int


class Doubled(Sized):
    def __init__(self, dim: int) -> None:
        super().__init__(2 * dim)


def test_below_hand_written_constructors_alone_a_child_says_nothing() -> None:
    made = cast(Any, Silent)(3)
    assert (made.size, made.note, Silent.note) == (6, "kept", "kept")


def test_a_child_below_a_generated_constructor_too_is_told_what_to_write() -> None:
    with pytest.raises(DeclarationError, match=r"write class Unsaid\(Doubled, init=False\) to inherit it"):

        class Unsaid(Doubled):
            pass


class Built(Module):
    def __init__(self) -> None:
        super().__init__()
        self.build()

    def build(self) -> None: ...


def test_field_has_no_effect_below_a_hand_written_constructor() -> None:
    with pytest.raises(DeclarationError, match=r"so the specifier of rate has no effect"):

        class Rated(Built):
            rate: float = field(default=0.5)


def test_there_has_to_be_a_constructor_to_keep() -> None:
    with pytest.raises(DeclarationError, match=r"no base of Empty has a hand-written __init__"):

        class Empty(Module, init=False):
            size: int


class Bare(Module, init=False):
    """Has attributes, and the constructor of nn.Module."""

    rate: float = 0.5
    _cache: dict[str, int] | None = None


class Filled(Bare):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.rate = 0.25
        self.head = nn.Linear(dim, 1)


class StillBare(Bare, init=False):
    size: int = 3


def test_directly_below_module_the_constructor_of_torch_is_kept() -> None:
    assert (Bare().rate, Bare()._cache, StillBare().size, Filled(2).rate) == (0.5, None, 3, 0.25)
    assert list(Filled(2).state_dict()) == ["head.weight", "head.bias"]
    with pytest.raises(TypeError):
        Bare(2)


class Net(Module):
    dim: int
    scale: nn.Parameter = param("dim", dtype=torch.float32, initializer=nn.init.ones_)
    embed: nn.Embedding = submodule(nn.Embedding, 4, "dim")

    def __post_init__(self) -> None:
        self.head = nn.Linear(self.dim, 4)
        self.head.weight = self.embed.weight
        self.first, self.second = nn.Linear(2, 2), nn.Linear(2, 2)
        self.second.weight = self.first.weight
        self.register_buffer("steps", torch.arange(3))


def test_its_tensors_follow_the_dtype_of_the_constructor() -> None:
    net = Net(3, dtype=torch.bfloat16)
    assert {name: tensor.dtype for name, tensor in net.state_dict().items()} == {
        "scale": torch.float32,
        "embed.weight": torch.bfloat16,
        "head.weight": torch.bfloat16,
        "head.bias": torch.bfloat16,
        "first.weight": torch.bfloat16,
        "first.bias": torch.bfloat16,
        "second.weight": torch.bfloat16,
        "second.bias": torch.bfloat16,
        "steps": torch.int64,
    }


def test_its_ties_hold_when_they_follow() -> None:
    for net in (Net(3, device="meta"), Net(3, dtype=torch.bfloat16)):
        assert net.head.weight is net.embed.weight
        assert net.first.weight is net.second.weight


def test_without_arguments_it_leaves_its_tensors_as_they_are() -> None:
    class Kept(Module):
        dim: int

        def __post_init__(self) -> None:
            self.table = nn.Parameter(torch.ones(self.dim, dtype=torch.float64))

    assert Kept(2).table.dtype == torch.float64
