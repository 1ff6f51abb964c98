"""Modules with every kind of field."""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import partial
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import init

import qten_gen as q
from qten_gen import (
    Module,
    ModuleDict,
    ModuleList,
    Sequential,
    buffer,
    choice,
    const,
    param,
    sequential,
    submodule,
    virtual,
)

from .tensorclasses import Point

SCALE = 0.5


def half_(tensor: Tensor) -> None:
    """Fill with one half."""
    tensor.fill_(SCALE)


class Plain(nn.Module):
    """A module that takes neither device nor dtype."""

    def __init__(self, width: int, bias: bool = True) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width, bias)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the layer."""
        result: Tensor = self.linear(x)
        return result


class Config(Module):
    """Constructor arguments alone."""

    width: int
    depth: int = 2
    scale: float = SCALE
    names: list[str] = q.field(default_factory=list)
    strict: bool = q.field(default=False, kw_only=True)


class Holding(Module):
    """Arguments that may be modules: nn.Module registers those that are."""

    activation: Callable[[Tensor], Tensor]
    body: Plain | None = None


class Splitting(Module):
    """A call that gives several tensors."""

    width: int

    def forward(self, x: Tensor) -> list[Tensor]:
        """Cut into rows."""
        return list(x.view(-1, self.width).unbind(0))


class Renamed(Module):
    """Arguments with other names than their fields: those of a child, of a derived value and of a builtin."""

    norm_class: type[nn.Module] = q.field(default=nn.LayerNorm, alias="norm")
    given_hidden: int | None = q.field(default=None, alias="hidden")
    sizes: list[int] = q.field(default_factory=list, alias="len", kw_only=True)
    hidden: int = q.derived("given_hidden or 4 + len(sizes)")
    norm: nn.Module = submodule(q.choice("norm_class"), "hidden")


class Sizes(Module):
    """Dimension expressions, dtypes, and where tensors are initialised."""

    rows: int
    cols: int = 4
    weight: nn.Parameter = param("rows", "2*(cols + 1) - rows // 2", initializer=init.xavier_uniform_)
    fixed: nn.Parameter = param(3, "-rows + 2*rows", requires_grad=False, initializer=half_)
    scalar: nn.Parameter = param(initializer=nn.init.zeros_)
    steps: Tensor = buffer("rows", dtype=torch.int64, initializer=nn.init.zeros_)
    """How often each row was seen."""
    window: Tensor = buffer("cols", persistent=False, initializer=half_)

    def forward(self, x: Tensor, *, scale: float = 1.0) -> Tensor:
        """Project."""
        return scale * (x @ self.weight)


class Nested(Module):
    """Child modules of torch and of one's own."""

    width: int
    norm: nn.LayerNorm = submodule(nn.LayerNorm, "width", eps=1e-6)
    conv: nn.Conv1d = submodule(nn.Conv1d, "width", "2*width", 3, padding_mode=const("circular"))
    drop: nn.Dropout = submodule(nn.Dropout, 0.1)
    plain: Plain = submodule(Plain, "width", bias=False)
    sizes: Sizes = submodule(Sizes, "width")

    @virtual(cached=True)
    def squares(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        """Squares of integers."""
        return torch.arange(self.width, dtype=dtype, device=device) ** 2

    @virtual
    def ramp(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        """Integers from zero."""
        return torch.arange(self.width, dtype=dtype, device=device)


class Wider(Sizes):
    """Inherits parameters, replaces one and resets in its own way."""

    weight: nn.Parameter = param("rows", "cols", initializer=init.ones_)
    gain: nn.Parameter = param("rows", initializer=init.ones_)

    def reset_parameters(self) -> None:
        """Halve the gain after the usual initialisation."""
        super().reset_parameters()
        with torch.no_grad():
            self.gain.mul_(0.5)


class Widest(Wider):
    """Adds a parameter below a class that resets in its own way."""

    tail: nn.Parameter = param("rows", initializer=init.zeros_)


class Layer(Module):
    """Fields that may be None, and initialisers with arguments."""

    version: ClassVar[int] = 2
    rows: int
    cols: int = 3
    use_bias: bool = True
    weight: nn.Parameter = param("rows", "cols", initializer=partial(init.normal_, std=0.02))
    bias: nn.Parameter | None = param(
        "rows", when="use_bias", initializer=functools.partial(nn.init.constant_, val=SCALE)
    )
    gate: Tensor | None = buffer("rows", when="use_bias", persistent=False, initializer=lambda tensor: tensor.fill_(2))
    norm: nn.LayerNorm | None = submodule(nn.LayerNorm, "cols", when="use_bias")

    @classmethod
    def migrate(cls, state_dict: dict[str, Tensor], version: int) -> None:
        """Version 1 called the weight `w`."""
        if "w" in state_dict:
            state_dict["weight"] = state_dict.pop("w")


class Tower(Module):
    """Repeated children, and one parameter under two names."""

    width: int
    depth: int = 2
    tasks: tuple[str, ...] = ("topic", "tone")
    tied: bool = True
    embed: nn.Embedding = submodule(nn.Embedding, 5, "width")
    layers: ModuleList[Layer] = submodule(Layer, "width", "width", use_bias=False, repeat="depth")
    heads: ModuleDict[nn.Linear] = submodule(nn.Linear, "width", 1, keys="tasks")
    sides: ModuleDict[Layer] = submodule(Layer, "width", keys=("left", "right"))
    head: nn.Parameter = param(5, "width", tie="embed.weight")
    mirror: nn.Parameter | None = param(tie="sides.left.weight", when="tied")


class Graded(Module):
    """Repeated children that know their index."""

    width: int
    depth: int = 2
    layers: ModuleList[Layer] = submodule(Layer, "width", cols="index+1", repeat="depth")
    sides: ModuleDict[Layer] = submodule(Layer, "width", "2*(index+1)", keys=("left", "right"))


def log_range(module: Composed) -> Tensor:
    """Logarithms of the integers from one."""
    return torch.arange(1, module.width + 1).float().log()


class Composed(Module):
    """Sequences, choices of class, computed values, lists of parameters and of lists, and groups for the optimizer."""

    width: int
    depth: int = 2
    act: str = "relu"
    rms: bool = False
    norm_layer: type[nn.Module] = nn.LayerNorm
    body: Sequential[nn.Module] = sequential(
        submodule(nn.Linear, "width", "2*width"),
        submodule(choice("act", {"relu": nn.ReLU, "gelu": nn.GELU})),
        submodule(nn.LayerNorm, "2*width", when="rms"),
        submodule(nn.Linear, "2*width", "2*width", repeat="depth"),
        nn.Tanh,
        group="default",
    )
    named: Sequential = sequential(proj=submodule(nn.Linear, "width", 1), act=nn.ReLU, group="default")
    norm: nn.RMSNorm | nn.LayerNorm = submodule(
        choice("rms", {True: nn.RMSNorm, False: nn.LayerNorm}), "width", group="no_decay"
    )
    last: nn.Module = submodule(choice("norm_layer"), "width", group="no_decay")
    grid: ModuleList[ModuleList[nn.Linear]] = submodule(
        submodule(nn.Linear, "width", "index+1", repeat=3), repeat="depth", group="default"
    )
    mask: Tensor = buffer("width", "width", value="causal", persistent=False)
    rates: nn.Parameter = param(value=log_range, group="no_decay")
    start: nn.Parameter | None = param("width", value=lambda module: torch.zeros(3), when="rms", group="default")
    scales: nn.ParameterList = param("width", repeat=2, initializer=init.ones_, group="default")
    gains: nn.ParameterDict = param("width", keys=("left", "right"), initializer=init.zeros_, group="default")

    def causal(self) -> Tensor:
        """A lower triangle."""
        return torch.ones(self.width, self.width).tril()


class Written(Module):
    """Writes its own constructor."""

    width: int
    bias: nn.Parameter

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width
        self.bias = nn.Parameter(torch.zeros(width))

    @virtual(cached=True)
    def eye(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        """The identity."""
        return torch.eye(self.width, dtype=dtype, device=device)


class Kept(Written, init=False):
    """Keeps the constructor of its parent."""

    note: str


@Sizes.register(Point)
def project_point(module: Sizes, point: Point, *, scale: float = 1.0) -> Tensor:
    """Project the position of a point."""
    return scale * (point.position @ module.weight)


@Wider.register(Point)
def project_wider(module: Wider, point: Point) -> Point:
    """Keep the point."""
    return point
