"""A class of another library before a declared class among the bases, as torchtitan writes `class Linear(nn.Linear, Module)`."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Module, param

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


class List(nn.ModuleList, Base, init=False): ...


class PlainBelow(PlainOwn):
    pass


class Below(Own, init=False):
    pass


CASES: list[tuple[Made, Made]] = [
    (lambda: PlainOwn(3), lambda: Own(3)),
    (lambda: PlainKept(3, 4, bias=False), lambda: Kept(3, 4, bias=False)),
    (lambda: PlainList([nn.Linear(2, 2)]), lambda: List([nn.Linear(2, 2)])),
    (lambda: PlainBelow(3), lambda: Below(3)),
]


@pytest.mark.parametrize(("plain", "declared"), CASES, ids=["own", "kept", "list", "below"])
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


class Trained(Cooperative, Wide):
    """Without fields of its own."""


class Deep(Cooperative, Wide):
    depth: int
    bias: nn.Parameter = param("depth", initializer=nn.init.zeros_)

    def forward(self) -> Tensor:
        return self.weight.sum() + self.bias.sum()


class Deeper(Deep):
    """Below a class that has both."""


def test_fields_of_the_declared_base_are_registered_once_behind_the_library() -> None:
    assert (Trained(3).seen, list(Trained(3).state_dict())) == ([], ["weight"])
    for cls in (Deep, Deeper):
        module = cls(3, depth=2)
        assert (module.seen, list(module.state_dict()), module.width, module.depth) == ([], ["weight", "bias"], 3, 2)
        assert module() == 3
