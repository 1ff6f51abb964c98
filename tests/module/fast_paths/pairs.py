"""Pairs of trees for these tests: a declared one, which takes the fast paths, and a plain one, which nn.Module handles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from qten_gen import Module, buffer, param, submodule


class Leaf(Module):
    """Two parameters, and buffers in and out of the state dict."""

    dim: int
    name: str = "leaf"
    weight: nn.Parameter = param("dim", "dim", initializer=nn.init.ones_)
    bias: nn.Parameter = param("dim", initializer=nn.init.zeros_, requires_grad=False)
    scale: Tensor = buffer("dim", initializer=nn.init.ones_)
    steps: Tensor = buffer(dtype=torch.int64, initializer=nn.init.zeros_)
    noise: Tensor = buffer("dim", persistent=False, initializer=nn.init.zeros_)


class PlainLeaf(nn.Module):
    """`Leaf`, written by hand."""

    def __init__(self, dim: int, name: str = "leaf") -> None:
        super().__init__()
        self.dim = dim
        self.name = name
        self.register_parameter("weight", nn.Parameter(torch.empty(dim, dim)))
        self.register_parameter("bias", nn.Parameter(torch.empty(dim), requires_grad=False))
        self.register_buffer("scale", torch.empty(dim))
        self.register_buffer("steps", torch.empty((), dtype=torch.int64))
        self.register_buffer("noise", torch.empty(dim), persistent=False)
        with torch.no_grad():
            nn.init.ones_(self.get_parameter("weight"))
            nn.init.zeros_(self.get_parameter("bias"))
            nn.init.ones_(self.get_buffer("scale"))
            nn.init.zeros_(self.get_buffer("steps"))
            nn.init.zeros_(self.get_buffer("noise"))


class Tree(Module):
    """Declared and foreign children."""

    dim: int
    first: Leaf = submodule(Leaf, "dim")
    second: Leaf = submodule(Leaf, "dim")
    norm: nn.BatchNorm1d = submodule(nn.BatchNorm1d, "dim")
    rnn: nn.GRU = submodule(nn.GRU, "dim", "dim")


class PlainTree(nn.Module):
    """`Tree`, written by hand."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim
        self.first = PlainLeaf(dim)
        self.second = PlainLeaf(dim)
        self.norm = nn.BatchNorm1d(dim)
        self.rnn = nn.GRU(dim, dim)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an action left behind: its result or error as text, and every tensor of the module by name."""

    said: str
    tensors: dict[str, tuple[object, ...]]


def trees() -> tuple[nn.Module, nn.Module]:
    """A declared tree and a plain one with equal values."""
    made = []
    for cls in (Tree, PlainTree):
        torch.manual_seed(0)
        made.append(cls(3))
    return made[0], made[1]


def outcome(module: nn.Module, action: Callable[[nn.Module], object]) -> Outcome:
    """Run `action`, and say what it did to the module."""
    before = tensors(module)
    try:
        said = str(action(module)).replace("PlainTree", "Tree").replace("PlainLeaf", "Leaf")
    except Exception as error:  # any error: it is compared with the plain module's
        said = f"{type(error).__name__}: {error}".replace("PlainTree", "Tree").replace("PlainLeaf", "Leaf")
    return Outcome(said, {name: described(tensor, before.get(name)) for name, tensor in tensors(module).items()})


def tensors(module: nn.Module) -> dict[str, Tensor]:
    """Parameters and buffers by name, shared ones under each of their names."""
    return {
        **dict(module.named_parameters(remove_duplicate=False)),
        **dict(module.named_buffers(remove_duplicate=False)),
    }


def described(tensor: Tensor, before: Tensor | None) -> tuple[object, ...]:
    """Everything about a tensor that a user can see, and whether it is still the object that it was."""
    gradient = None if tensor.grad is None else (tensor.grad.dtype, shown(tensor.grad))
    kind = type(tensor).__name__
    return (kind, tensor.dtype, str(tensor.device), tensor.requires_grad, shown(tensor), gradient, tensor is before)


def shown(tensor: Tensor) -> object:
    """The values of a tensor, or why it has none."""
    if is_lazy(tensor):
        return "not initialised"
    return "meta" if tensor.is_meta else tensor.detach().to_dense().tolist()
