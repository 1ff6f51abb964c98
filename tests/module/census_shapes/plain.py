"""One constructor for each shape that `benchmarks/census.py` names, as people write them."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn


@dataclass
class Config:
    dim: int = 6
    heads: int = 2
    depth: int = 2
    bias: bool = True


class Chain(nn.Module):
    """Runs its children in their order."""

    def forward(self, x: Tensor) -> Tensor:
        for child in self.children():
            for each in child if isinstance(child, nn.ModuleList) else [child]:
                x = each(x)
        return x


class Configured(Chain):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.up = nn.Linear(config.dim, 4 * config.dim, bias=config.bias)
        self.down = nn.Linear(4 * config.dim, config.dim)


class Rich(Chain):
    def __init__(self, dim: int, ratio: float = 0.5, hidden: int | None = None) -> None:
        super().__init__()
        hidden = hidden or int(dim * ratio)
        self.up = nn.Linear(dim, max(hidden, 2))
        self.down = nn.Linear(max(hidden, 2), dim)


class Indexed(Chain):
    def __init__(self, widths: tuple[int, ...]) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(widths[i], widths[i + 1]) for i in range(len(widths) - 1)])


class Sequenced(Chain):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, dim), nn.GELU(), nn.Linear(dim, dim))


class Chosen(Chain):
    def __init__(self, dim: int, rms: bool = False, act: type[nn.Module] = nn.ReLU) -> None:
        super().__init__()
        self.norm = nn.RMSNorm(dim) if rms else nn.LayerNorm(dim)
        self.activation = act()


class Computed(nn.Module):
    mask: Tensor

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.register_buffer("mask", torch.tril(torch.ones(dim, dim)), persistent=False)
        self.rates = nn.Parameter(torch.arange(1, dim + 1).log())

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.mask * self.rates


class Several(nn.Module):
    def __init__(self, dim: int, depth: int = 2) -> None:
        super().__init__()
        self.scales = nn.ParameterList([nn.Parameter(torch.ones(dim)) for _ in range(depth)])
        self.stages = nn.ModuleList([nn.ModuleList([nn.Linear(dim, dim) for _ in range(2)]) for _ in range(depth)])

    def forward(self, x: Tensor) -> Tensor:
        for scale, stage in zip(self.scales, self.stages, strict=True):
            for layer in stage.children():
                x = layer(x) * scale
        return x


class Conditional(nn.Module):
    def __init__(self, dim: int, rate: float = 0.0, depth: int = 1) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(dim) if rate > 0 or depth > 1 else None
        self.proj = nn.Linear(dim, dim)

    def forward(self, x: Tensor) -> Tensor:
        return self.proj(x if self.norm is None else self.norm(x))


class PassesAnything(Chain):
    def __init__(self, dim: int, **options) -> None:
        super().__init__()
        self.proj = nn.Linear(dim, dim, **options)


class PassesToItsBase(Sequenced):
    def __init__(self, dim: int) -> None:
        super().__init__(2 * dim // 2)
        self.head = nn.Linear(dim, 1)


class CarriesAWidth(Chain):
    def __init__(self, dim: int, widths: tuple[int, ...] = (4, 5)) -> None:
        super().__init__()
        self.layers = nn.ModuleList()
        for width in widths:
            self.layers.append(nn.Linear(dim, width))
            self.layers.append(nn.ReLU())
            dim = width


class MadeByAMethod(Chain):
    def __init__(self, dim: int, depth: int = 2) -> None:
        super().__init__()
        self.net = self._make_layer(dim, depth)

    def _make_layer(self, dim: int, depth: int) -> nn.Sequential:
        return nn.Sequential(*[nn.Linear(dim, dim) for _ in range(depth)])


class Branched(Chain):
    def __init__(self, dim: int, wide: bool = False) -> None:
        super().__init__()
        if wide:
            self.proj = nn.Linear(dim, 4 * dim, bias=False)
        else:
            self.proj = nn.Linear(dim, dim)


class ChangedAfterwards(Chain):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, dim), nn.ReLU())
        self.net[1] = nn.Tanh()


class Shifted(Chain):
    def __init__(self, dim: int, norm: bool = False) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        if norm:
            layers.append(nn.LayerNorm(dim))
        layers.append(nn.Linear(dim, dim))
        self.net = nn.Sequential(*layers)


class NamedAsItsArgument(Chain):
    def __init__(self, dim: int, drop: float = 0.0) -> None:
        super().__init__()
        self.proj = nn.Linear(dim, dim)
        self.drop = nn.Dropout(drop)


class GivenByDefault(Chain):
    def __init__(self, dim: int, act: nn.Module = nn.GELU()) -> None:  # noqa: B008 # the shape
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, dim), act)


def recorded(init: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(init)
    def inner(self: Any, *args: object) -> None:
        init(self, *args)
        self.given = args

    return inner


class Decorated(Chain):
    @recorded
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.proj = nn.Linear(dim, dim)


def rounded(size: float, divisor: int = 4) -> int:
    return int(size + divisor / 2) // divisor * divisor


class SizedByACall(Chain):
    def __init__(self, dim: int, ratio: float = 1.5) -> None:
        super().__init__()
        hidden = rounded(dim * ratio)
        self.up = nn.Linear(dim, hidden)


class Tried(Chain):
    def __init__(self, dim: int) -> None:
        super().__init__()
        try:
            self.norm: nn.Module = nn.RMSNorm(dim)
        except AttributeError:
            self.norm = nn.LayerNorm(dim)
