"""Declared modules, and the same modules as an expert writes them in plain PyTorch.

Whatever a tool does to the one it has to do to the other: equal results, bit for bit, or the same refusal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from qten_gen import Module, TensorClass, buffer, param, submodule, virtual


class Rows(TensorClass):
    """A batch type, for which `Tower` has a handler."""

    x: Tensor


class Block(Module):
    """Parameters, buffers in and out of the state dict, children of torch, and a virtual tensor."""

    dim: int
    heads: int = 2
    weight: nn.Parameter = param("dim", "dim", initializer=nn.init.ones_)
    shift: nn.Parameter = param("dim", initializer=nn.init.zeros_)
    scale: Tensor = buffer("heads", initializer=nn.init.ones_)
    noise: Tensor = buffer("dim", persistent=False, initializer=nn.init.zeros_)
    norm: nn.LayerNorm = submodule(nn.LayerNorm, "dim", eps=1e-3)
    proj: nn.Linear = submodule(nn.Linear, "dim", "dim")

    @virtual(cached=True)
    def causal(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.ones(self.dim, self.dim, dtype=dtype, device=device).tril()

    def forward(self, x: Tensor) -> Tensor:
        mixed = self.norm(x) @ self.causal + self.shift
        out: Tensor = self.proj(nn.functional.linear(mixed, self.weight))
        return out * self.scale.sum() + self.noise


class PlainBlock(nn.Module):
    """`Block`, written by hand."""

    scale: Tensor
    noise: Tensor

    def __init__(self, dim: int, heads: int = 2) -> None:
        super().__init__()
        self.dim = dim
        self.heads = heads
        self.weight = nn.Parameter(torch.empty(dim, dim))
        self.shift = nn.Parameter(torch.empty(dim))
        self.register_buffer("scale", torch.empty(heads))
        self.register_buffer("noise", torch.empty(dim), persistent=False)
        self.norm = nn.LayerNorm(dim, eps=1e-3)
        self.proj = nn.Linear(dim, dim)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        with torch.no_grad():
            nn.init.ones_(self.weight)
            nn.init.zeros_(self.shift)
            nn.init.ones_(self.scale)
            nn.init.zeros_(self.noise)

    def forward(self, x: Tensor) -> Tensor:
        causal = torch.ones(self.dim, self.dim, dtype=x.dtype, device=x.device).tril()
        mixed = self.norm(x) @ causal + self.shift
        out: Tensor = self.proj(nn.functional.linear(mixed, self.weight))
        return out * self.scale.sum() + self.noise


class Tower(Module):
    """Declared children and a registered handler."""

    dim: int
    gain: nn.Parameter = param("dim", initializer=nn.init.ones_)
    first: Block = submodule(Block, "dim")
    second: Block = submodule(Block, "dim", heads=3)

    def forward(self, x: Tensor) -> Tensor:
        hidden: Tensor = self.first(x)
        out: Tensor = self.second(torch.tanh(hidden))
        return out * self.gain


@Tower.register(Rows)
def _(tower: Tower, rows: Rows) -> Tensor:
    return tower.forward(rows.x)


class PlainTower(nn.Module):
    """`Tower`, written by hand."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim
        self.gain = nn.Parameter(torch.ones(dim))
        self.first = PlainBlock(dim)
        self.second = PlainBlock(dim, heads=3)

    def forward(self, x: Tensor | Rows) -> Tensor:
        if isinstance(x, Rows):
            x = x.x
        hidden: Tensor = self.first(x)
        out: Tensor = self.second(torch.tanh(hidden))
        return out * self.gain


Input = Tensor | Rows


@dataclass(frozen=True)
class Pair:
    """A declared and a plain module with equal weights, and what both are called with."""

    declared: Module
    plain: nn.Module
    input: Input

    @property
    def both(self) -> tuple[nn.Module, nn.Module]:
        """The two modules, for what is done to either."""
        return self.declared, self.plain


def fill(module: nn.Module) -> None:
    """Give every parameter and buffer values that depend on its name's place alone."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for tensor in (*module.parameters(), *module.buffers()):
            tensor.copy_(torch.randn(tensor.shape, generator=generator) / 2)


def rows(dim: int = 4) -> Tensor:
    """Three rows to run a module on, the same in every test."""
    return torch.linspace(-1, 1, 3 * dim).view(3, dim)


def block(dim: int = 4) -> Pair:
    """Virtual tensors and children of torch."""
    return _pair(Block(dim), PlainBlock(dim), rows(dim))


def tower(dim: int = 4) -> Pair:
    """Declared children, and a handler that a tensor does not meet."""
    return _pair(Tower(dim), PlainTower(dim), rows(dim))


def handled(dim: int = 4) -> Pair:
    """The same, called with the type that has a handler."""
    return _pair(Tower(dim), PlainTower(dim), Rows(rows(dim), batch_size=[3]))


def _pair(declared: Module, plain: nn.Module, input: Input) -> Pair:
    fill(declared)
    fill(plain)
    return Pair(declared, plain, input)


MAKERS: tuple[Callable[..., Pair], ...] = (block, tower, handled)


Step = Callable[[nn.Module], "Tensor | Sequence[Tensor]"]


def agree(pair: Pair, step: Step) -> None:
    """Assert that a step gives the same tensors, bit for bit, with the declared module and with the plain one."""
    declared, plain = (_tensors(step(module)) for module in pair.both)
    assert len(declared) == len(plain) > 0
    for ours, theirs in zip(declared, plain, strict=True):
        assert ours.dtype == theirs.dtype and torch.equal(ours, theirs)


def _tensors(result: Tensor | Sequence[Tensor]) -> list[Tensor]:
    return [result] if isinstance(result, Tensor) else list(result)


def state(module: nn.Module) -> list[Tensor]:
    """Every parameter and buffer, those out of the state dict included."""
    return [*module.parameters(), *module.buffers()]


def blocks(module: nn.Module) -> list[Block | PlainBlock]:
    """The blocks in a module, itself included."""
    return [child for child in module.modules() if isinstance(child, Block | PlainBlock)]


def train(module: nn.Module, input: Input, optimiser: torch.optim.Optimizer, steps: int = 3) -> list[Tensor]:
    """What a few steps of training leave."""
    for _ in range(steps):
        optimiser.zero_grad()
        module(input).square().mean().backward()
        optimiser.step()
    return [*state(module), module(input)]
