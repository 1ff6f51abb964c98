"""Declared modules against nn.Module written by hand, and dispatch against QTen's way.

The tree has 50 layers with two parameters and two buffers each, four numbers wide: what is timed is the module and not the
arithmetic. Before it is timed, every operation is checked to leave the same values in all columns.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from qten_gen import Functional, Module, buffer, param

from .timing import Row, table, time_statements, write_json

ROUNDS = 25
LAYERS = 50
SIDE = 4

Names = Mapping[str, object]
"""What a statement names."""


class ResetLayer(Module):
    """Initialised with zeros and ones by a method of its own."""

    dim: int
    weight: nn.Parameter = param("dim", "dim")
    bias: nn.Parameter = param("dim")
    scale: Tensor = buffer("dim")
    shift: Tensor = buffer("dim")

    def reset_parameters(self) -> None:
        """Fill with zeros and ones."""
        nn.init.ones_(self.weight)
        nn.init.zeros_(self.bias)
        nn.init.ones_(self.scale)
        nn.init.zeros_(self.shift)


class FilledLayer(Module):
    """Initialised with zeros and ones."""

    dim: int
    weight: nn.Parameter = param("dim", "dim", initializer=nn.init.ones_)
    bias: nn.Parameter = param("dim", initializer=nn.init.zeros_)
    scale: Tensor = buffer("dim", initializer=nn.init.ones_)
    shift: Tensor = buffer("dim", initializer=nn.init.zeros_)


class PlainFilledLayer(nn.Module):
    """`FilledLayer` and `ResetLayer`, written by hand with the functions that torch's own modules use."""

    scale: Tensor
    shift: Tensor

    def __init__(self, dim: int, *, device: torch.device | None = None, dtype: torch.dtype | None = None) -> None:
        super().__init__()
        self.dim = dim
        self.weight = nn.Parameter(torch.empty((dim, dim), device=device, dtype=dtype))
        self.bias = nn.Parameter(torch.empty((dim,), device=device, dtype=dtype))
        self.register_buffer("scale", torch.empty((dim,), device=device, dtype=dtype))
        self.register_buffer("shift", torch.empty((dim,), device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Fill with zeros and ones."""
        nn.init.ones_(self.weight)
        nn.init.zeros_(self.bias)
        nn.init.ones_(self.scale)
        nn.init.zeros_(self.shift)


class Tree(Module):
    """Layers in a declared module."""

    layers: nn.ModuleList

    def __init__(self, layers: list[nn.Module]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)


class PlainTree(nn.Module):
    """Layers in a plain module."""

    def __init__(self, layers: list[nn.Module]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)


class Called(Module):
    """A module with a handler."""

    def forward(self, x: Tensor) -> Tensor:
        return x


@Called.register(int)
def _(called: Called, number: int) -> int:
    return number


class PlainCalled(nn.Module):
    """A module that gives what it gets."""

    def forward(self, x: object) -> object:
        return x


class Same(Functional):
    """Gives what it gets."""


@Same.register(int)
def _(same: Same, number: int) -> int:
    return number


class ByPair:
    """Multiple dispatch in QTen's way: a table by both types, searched along both resolution orders and remembered."""

    _table: ClassVar[dict[tuple[type, type], Callable[..., Any]]] = {}
    _found: ClassVar[dict[tuple[type, type], Callable[..., Any]]] = {}

    @classmethod
    def register(cls, obj_type: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def decorate(handler: Callable[..., Any]) -> Callable[..., Any]:
            cls._table[obj_type, cls] = handler
            return handler

        return decorate

    def invoke(self, obj: object, **keywords: object) -> object:
        key = (type(obj), type(self))
        handler = self._found.get(key)
        if handler is None:
            pairs = ((of_object, of_self) for of_object in key[0].__mro__ for of_self in key[1].__mro__)
            handler = next(self._table[pair] for pair in pairs if pair in self._table)
            self._found[key] = handler
        return handler(self, obj, **keywords)

    def __call__(self, obj: object, **keywords: object) -> object:
        return self.invoke(obj, **keywords)


@ByPair.register(int)
def _(same: ByPair, number: int) -> int:
    return number


class PairCalled(ByPair, nn.Module):
    """A module that is called through the table, in QTen's way: hooks do not run."""


@PairCalled.register(int)
def _(called: PairCalled, number: int) -> int:
    return number


def tree(cls: Callable[[list[nn.Module]], nn.Module], layer: Callable[[int], nn.Module]) -> nn.Module:
    """A tree of fifty layers with equal values in all columns."""
    made = cls([layer(SIDE) for _ in range(LAYERS)])
    with torch.no_grad():
        for tensor in made.state_dict().values():
            tensor.fill_(0.5)
    return made


def rows() -> Iterator[tuple[str, str, Mapping[str, Names], str]]:
    """Name, statement, what it names in each column, and the limit."""
    filled: dict[str, Names] = {"declared": {"cls": FilledLayer}, "plain": {"cls": PlainFilledLayer}}
    reset: dict[str, Names] = {"declared": {"cls": ResetLayer}, "plain": {"cls": PlainFilledLayer}}
    build = f"m = [cls({SIDE}) for _ in range({LAYERS})]"
    yield "construct 50 layers, zeros and ones", build, filled, "0.40"
    yield "construct 50 layers, a reset_parameters of their own", build, reset, ""
    names = {"saved": tree(PlainTree, PlainFilledLayer).state_dict(), "double": torch.float64, "single": torch.float32}
    for name, statement, limit in (
        ("load_state_dict", "m.load_state_dict(saved)", "1.10"),
        ("to_empty, load_state_dict", 'm.to_empty(device="cpu"); m.load_state_dict(saved)', "1.10"),
        ("to(float64), to(float32)", "m.to(double); m.to(single)", "1.25"),
        ("to(float32), nothing to do", "m.to(single)", ""),
    ):
        ours, plain = tree(Tree, FilledLayer), tree(PlainTree, PlainFilledLayer)
        yield name, statement, {"declared": {"m": ours, **names}, "plain": {"m": plain, **names}}, limit
    layers: dict[str, Names] = {"declared": {"m": FilledLayer(SIDE)}, "plain": {"m": PlainFilledLayer(SIDE)}}
    yield "parameter read", "m.weight", layers, "0.22"
    yield "buffer read", "m.shift", layers, "0.20"
    called: dict[str, Names] = {"declared": {"m": Called()}, "plain": {"m": PlainCalled()}, "QTen": {"m": PairCalled()}}
    yield "module call that dispatches", "m(1)", called, "0.50"
    yield "functional call", "m(1)", {"declared": {"m": Same()}, "QTen": {"m": ByPair()}}, "0.20"


def left(statement: str, names: Mapping[str, object]) -> object:
    """The result of a statement, or every tensor of the module that it changes."""
    space = dict(names)
    if "=" not in statement and ";" not in statement and "load" not in statement and "to(" not in statement:
        value = eval(statement, space)
        return value.tolist() if isinstance(value, Tensor) else value
    exec(statement, space)
    made: Any = space["m"]
    modules = made if isinstance(made, list) else [made]
    return [
        (name, tuple(tensor.shape), tensor.dtype, tensor.tolist() if "cls" not in names else None)
        for module in modules
        for name, tensor in module.state_dict().items()
    ]


def compare() -> list[Row]:
    """Check, then time, every operation.

    Raises `SystemExit` naming the operation where the columns differ.
    """
    measured = []
    for name, statement, columns, limit in rows():
        results = [left(statement, names) for names in columns.values()]
        if any(result != results[0] for result in results):
            raise SystemExit(f"{name}: the columns differ")
        cells = {column: (statement, names) for column, names in columns.items()}
        measured.append(Row(name, time_statements(cells, ROUNDS), limit))
    return measured


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.module", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the times there as well")
    options = parser.parse_args()
    torch.set_num_threads(1)
    measured = compare()
    for columns in dict.fromkeys(tuple(row.seconds) for row in measured):
        alike = [row for row in measured if tuple(row.seconds) == columns]
        print(table(alike, lambda first, other: f"{first / other:.2f}", "/"), end="\n\n")
    if options.json:
        write_json(options.json, measured)


if __name__ == "__main__":
    main()
