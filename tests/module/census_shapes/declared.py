"""The shapes of `plain.py` in declared fields. Where the language does not say a shape, what to write instead."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from qten_gen import (
    Module,
    ModuleList,
    Sequential,
    buffer,
    choice,
    derived,
    field,
    param,
    sequential,
    submodule,
)
from tests.module.census_shapes.plain import Config, rounded


class Chain(Module):
    """Runs its children in their order."""

    def forward(self, x: Tensor) -> Tensor:
        for child in self.children():
            for each in child if isinstance(child, nn.ModuleList) else [child]:
                x = each(x)
        return x


class Configured(Chain):
    config: Config
    up: nn.Linear = submodule(nn.Linear, "config.dim", "4 * config.dim", bias="config.bias")
    down: nn.Linear = submodule(nn.Linear, "4 * config.dim", "config.dim")


class Rich(Chain):
    dim: int
    ratio: float = 0.5
    hidden: int | None = None
    width: int = derived("max(hidden or int(dim * ratio), 2)")
    up: nn.Linear = submodule(nn.Linear, "dim", "width")
    down: nn.Linear = submodule(nn.Linear, "width", "dim")


class Indexed(Chain):
    widths: tuple[int, ...]
    layers: ModuleList[nn.Linear] = submodule(nn.Linear, "widths[index]", "widths[index + 1]", repeat="len(widths) - 1")


class Sequenced(Chain):
    dim: int
    net: Sequential = sequential(submodule(nn.Linear, "dim", "dim"), nn.GELU, submodule(nn.Linear, "dim", "dim"))


class Chosen(Chain):
    dim: int
    rms: bool = False
    act: type[nn.Module] = nn.ReLU
    norm: nn.RMSNorm | nn.LayerNorm = submodule(choice("rms", {True: nn.RMSNorm, False: nn.LayerNorm}), "dim")
    activation: nn.Module = submodule(choice("act"))


class Computed(Module):
    dim: int
    mask: Tensor = buffer(value=lambda module: torch.tril(torch.ones(module.dim, module.dim)), persistent=False)
    rates: nn.Parameter = param(value=lambda module: torch.arange(1, module.dim + 1).log())

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.mask * self.rates


class Several(Module):
    dim: int
    depth: int = 2
    scales: nn.ParameterList = param("dim", repeat="depth", initializer=nn.init.ones_)
    stages: ModuleList[ModuleList[nn.Linear]] = submodule(submodule(nn.Linear, "dim", "dim", repeat=2), repeat="depth")

    def forward(self, x: Tensor) -> Tensor:
        for scale, stage in zip(self.scales, self.stages, strict=True):
            for layer in stage:
                x = layer(x) * scale
        return x


class Conditional(Module):
    dim: int
    rate: float = 0.0
    depth: int = 1
    norm: nn.LayerNorm | None = submodule(nn.LayerNorm, "dim", when="rate > 0 or depth > 1")
    proj: nn.Linear = submodule(nn.Linear, "dim", "dim")

    def forward(self, x: Tensor) -> Tensor:
        normed: Tensor = x if self.norm is None else self.norm(x)
        projected: Tensor = self.proj(normed)
        return projected


def _linear(dim: int, options: dict[str, bool]) -> nn.Linear:
    return nn.Linear(dim, dim, **options)


class PassesAnything(Chain):
    """The options are one argument, a dict."""

    dim: int
    options: dict[str, bool]
    proj: nn.Linear = submodule(_linear, "dim", "options")


class PassesToItsBase(Sequenced):
    """A subclass declares what it adds; the base takes its own fields."""

    head: nn.Linear = submodule(nn.Linear, "dim", 1)


class CarriesAWidth(Chain):
    """A function makes the list."""

    dim: int
    widths: tuple[int, ...] = (4, 5)
    layers: nn.ModuleList = submodule(lambda dim, widths: _narrowing(dim, widths), "dim", "widths")


def _narrowing(dim: int, widths: tuple[int, ...]) -> nn.ModuleList:
    layers = nn.ModuleList()
    for width in widths:
        layers.append(nn.Linear(dim, width))
        layers.append(nn.ReLU())
        dim = width
    return layers


def _stack(dim: int, depth: int) -> nn.Sequential:
    return nn.Sequential(*[nn.Linear(dim, dim) for _ in range(depth)])


class MadeByAMethod(Chain):
    """The method becomes a function."""

    dim: int
    depth: int = 2
    net: nn.Sequential = submodule(_stack, "dim", "depth")


class Branched(Chain):
    """What differs between the branches is in the expressions."""

    dim: int
    wide: bool = False
    proj: nn.Linear = submodule(nn.Linear, "dim", "4 * dim if wide else dim", bias="not wide")


class ChangedAfterwards(Chain):
    dim: int
    net: Sequential = sequential(submodule(nn.Linear, "dim", "dim"), nn.ReLU)

    def __post_init__(self) -> None:
        self.net[1] = nn.Tanh()


def _shifted(dim: int, norm: bool) -> nn.Sequential:
    return nn.Sequential(*[nn.LayerNorm(dim)] if norm else [], nn.Linear(dim, dim))


class Shifted(Chain):
    """`sequential` would keep the keys of the others with an Identity; a function makes the shifted ones."""

    dim: int
    norm: bool = False
    net: nn.Sequential = submodule(_shifted, "dim", "norm")


class NamedAsItsArgument(Chain):
    dim: int
    drop_rate: float = field(default=0.0, alias="drop")
    proj: nn.Linear = submodule(nn.Linear, "dim", "dim")
    drop: nn.Dropout = submodule(nn.Dropout, "drop_rate")


class GivenByDefault(Chain):
    """The argument is the class."""

    dim: int
    act: type[nn.Module] = nn.GELU
    net: Sequential = sequential(submodule(nn.Linear, "dim", "dim"), submodule(choice("act")))


class Decorated(Chain):
    """`__post_init__` does what the decorator did."""

    dim: int
    proj: nn.Linear = submodule(nn.Linear, "dim", "dim")

    def __post_init__(self) -> None:
        self.given = (self.dim,)


class SizedByACall(Chain):
    """The function that computes the size makes the child."""

    dim: int
    ratio: float = 1.5
    up: nn.Linear = submodule(lambda dim, ratio: nn.Linear(dim, rounded(dim * ratio)), "dim", "ratio")


def _norm(dim: int) -> nn.RMSNorm | nn.LayerNorm:
    try:
        return nn.RMSNorm(dim)
    except AttributeError:
        return nn.LayerNorm(dim)


class Tried(Chain):
    """A function tries."""

    dim: int
    norm: nn.RMSNorm | nn.LayerNorm = submodule(_norm, "dim")
