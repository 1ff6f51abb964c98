"""Specifiers of modules that are wrong; then some that are right, of which nothing is printed."""

import abc

import torch
from qten_gen import Module, ModuleDict, ModuleList, Sequential, buffer, const, param, sequential, submodule
from torch import Tensor, nn

WIDE, COUNT = torch.tensor([1, 2])
MODE = "circular"


def size() -> int: ...


SIZE = size()
sizes = (1, 2)
FLAG = bool(SIZE)


class Conditions(Module):
    dim: int
    wide: bool
    a: Tensor | None = buffer("dim", when="wdie", initializer=nn.init.ones_)
    b: Tensor | None = buffer("dim", when="dim", initializer=nn.init.ones_)
    c: Tensor | None = buffer("dim", when=WIDE, initializer=nn.init.ones_)


class Repeated(Module):
    dim: int
    depth: int
    wide: bool
    tasks: tuple[str, ...]
    a: ModuleDict[nn.Linear] = submodule(nn.Linear, 1, 1, keys="task")
    b: ModuleDict[nn.Linear] = submodule(nn.Linear, 1, 1, keys="dim")
    c: ModuleDict[nn.Linear] = submodule(nn.Linear, 1, 1, keys=("a.b",))
    d: ModuleDict[nn.Linear] = submodule(nn.Linear, 1, 1, keys="tasks", repeat=2)
    e: ModuleList[nn.Linear] | None = submodule(nn.Linear, 1, 1, repeat=2, when="wide")
    f: ModuleList[nn.Linear] = submodule(nn.Linear, 1, 1, repeat=COUNT)
    g: ModuleDict[nn.Linear] = submodule(nn.Linear, 1, 1, keys=[1])
    h: ModuleList[nn.Linear] = submodule(nn.Linear, 1, 1, repeat="dept")
    i: ModuleList[nn.Linear] = submodule(nn.Linear, "indx + 1", 1, repeat=2)
    j: nn.Linear = submodule(nn.Linear, "index", 1)
    k: nn.Sequential = sequential(submodule(nn.Linear, "dim", "dim"), repeat=3)
    l: Sequential = sequential(submodule(nn.Linear, 2, 2, group="slow"))
    m: nn.Linear = submodule(nn.Linear, 2, 2, keys=3)


class Index(Module):
    index: int
    a: ModuleList[nn.Linear] = submodule(nn.Linear, "index+1", 1, repeat=2)


class OnlyTheProgramKnows(Module):
    dim: int
    a: nn.Parameter = param(*sizes, initializer=nn.init.ones_)
    b: nn.Parameter = param(SIZE, initializer=nn.init.ones_)
    c: nn.Parameter = param(size(), initializer=nn.init.ones_)
    d: nn.Parameter = param(8, initializer=nn.init.ones_, requires_grad=FLAG)
    e: nn.Parameter = submodule(nn.Linear, 2, 2, repeat=SIZE)
    f: nn.Parameter = submodule(nn.Linear, f"{SIZE}*dim", 2)


class Arguments(Module):
    a: nn.Parameter = param(8, initializer=nn.init.ones_, init=3)
    b: nn.Parameter = param(8, initialiser=nn.init.ones_, initializer=nn.init.ones_)
    c: nn.Parameter = param(tie="a", initializer=nn.init.ones_)
    d: optim.Parameter = param(3, initializer=nn.init.ones_)
    _drop: nn.Dropout = submodule(nn.Dropout)


class Strings(Module):
    w: nn.Conv1d = submodule(nn.Conv1d, 1, 1, 3, padding_mode=MODE)
    x: nn.Conv1d = submodule(nn.Conv1d, 1, 1, 3, padding_mode="circular")
    y: nn.Conv1d = submodule(nn.Conv1d, 1, 1, 3, padding_mode="a/b")
    z: nn.Conv1d = submodule(nn.Conv1d, 1, 1, 3, padding_mode="same pad")


class Constructed(Module):
    dim: int
    a: nn.Linear = nn.Linear(3, 4)
    b: nn.Module = nn.ReLU()
    c = nn.Linear(3, 4)
    d = nn.Sequential(nn.Linear(3, 4))
    e: nn.Linear = submodule(nn.Linear, "self.dim", 2)
    f = submodule(nn.Linear, 3, 2)


# From here on nothing is wrong.


class Right(Module):
    dim: int
    a: nn.Conv1d = submodule(nn.Conv1d, 1, 1, 3, padding_mode=const(MODE))
    b: ModuleList[nn.Sequential] = sequential(submodule(nn.Linear, "dim", "dim"), repeat=3)


class Animal(abc.ABC): ...


@Animal.register(int)
def handle(x: int) -> None: ...
