"""Modules whose names, texts or handlers are hard to write out again."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from qten_gen import Module as Layer
from qten_gen import ModuleDict, ModuleList, buffer, param, submodule, virtual

from .tensorclasses import Any, Sequence


def fill(tensor: Tensor) -> None:
    """Fill with ones."""
    tensor.fill_(1)


class Module(Layer):
    """Called like its base, with fields called like builtins and decorators."""

    range: int = 2
    enumerate: int = 1
    Module: int = 1
    property: Tensor = buffer("range", initializer=fill)
    """What the buffer holds."""
    layers: ModuleList[nn.Linear] = submodule(nn.Linear, "range", 2, repeat="enumerate")
    heads: ModuleDict[nn.Linear] = submodule(nn.Linear, "range", "index+1", keys=("it's", 'say "yes"'))

    @virtual
    def derived(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        '''Ends in three """'''
        return torch.ones(self.range, dtype=dtype, device=device)

    def forward(self, x: Tensor, /, *rest: int, scale: float = 1.0, **others: str) -> Tensor:
        """Scale."""
        return x * scale


class device(Layer):
    """Called like an argument of every constructor."""

    weight: nn.Parameter = param(3, initializer=fill)

    async def forward(self, x: Tensor) -> int:
        """Wait."""
        return 1


class Outer(Layer):
    """Holds one that is called like a builtin type."""

    inner: device = submodule(device)


@Module.register(str)
def with_star(module: Module, text: str, /, *args: int, flag: bool = True, **rest: str) -> int:
    """Take more by position."""
    return len(text)


@Module.register(bytes)
def with_all(*args: object) -> int:
    """Take all by position."""
    return len(args)


@Module.register(Sequence)
def with_self(module: Module, self: Sequence, mode: str = "a, b)", *, size: int | None = None) -> Any:
    """Take an object called self."""
    raise NotImplementedError


@Module.register(dict)
def unannotated(module: Module, obj={}, /, option=(1, 2)) -> None:  # type: ignore[no-untyped-def]  # noqa: B006
    """Take what nothing is said of."""


@device.register(float)
async def waiting(module: device, x: float) -> str:
    """Wait."""
    return "done"
