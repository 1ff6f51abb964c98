"""Tensors derived from others: cached and plain virtual tensors against inferno's way, which computes at every read.

Two of them: a causal mask of 512 x 512, derived from a size, and a mask of the positive entries of a buffer of that shape. The
columns are checked to give equal values before they are timed.
"""

from __future__ import annotations

import argparse
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path

import torch
from torch import Tensor, nn

from qten_gen import Module, VirtualTensor, buffer, virtual

from .timing import Row, table, time_statements, write_json

ROUNDS = 15
SIDE = 512


class Declared(Module):
    """Virtual tensors, kept and computed at every read."""

    size: int
    score: Tensor = buffer("size", "size", initializer=nn.init.ones_)

    @virtual(cached=True, sources=("size",))
    def causal(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.ones(self.size, self.size, dtype=dtype, device=device).tril_()

    @virtual(cached="may_be_stale", sources=("score",))
    def positive(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return (self.score > 0).to(dtype)


class Plain(nn.Module):
    """What both ways share, in nn.Module's style."""

    score: Tensor

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size
        self.register_buffer("score", torch.ones(size, size))

    def make_causal(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        """A lower triangle of ones."""
        return torch.ones(self.size, self.size, dtype=dtype, device=device).tril_()

    def make_positive(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        """Ones where the score is positive."""
        return (self.score > 0).to(dtype)


class Assigned(Plain):
    """`qten_gen.VirtualTensor`, assigned in a module written by hand."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.causal = VirtualTensor(self, "causal", "make_causal")
        self.positive = VirtualTensor(self, "positive", "make_positive")


class Reference:
    """A derived tensor in inferno's way, in its fewest steps: a weak method, a reference buffer, computed at every read."""

    def __init__(self, owner: Plain, name: str, materializer: str) -> None:
        self.owner, self.name = weakref.ref(owner), f"_{name}_ref"
        self.materializer = weakref.WeakMethod(getattr(owner, materializer))
        owner.register_buffer(self.name, torch.empty(0), persistent=False)

    @property
    def value(self) -> Tensor:
        """The derived tensor."""
        owner, materializer = self.owner(), self.materializer()
        assert owner is not None and materializer is not None
        reference: Tensor = getattr(owner, self.name)
        made: Tensor = materializer(reference.dtype, reference.device)
        return made.to(reference.device, reference.dtype)


class Inferno(Plain):
    """A module with derived tensors in inferno's way."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.causal = Reference(self, "causal", "make_causal")
        self.positive = Reference(self, "positive", "make_positive")


Cells = Mapping[str, tuple[str, Mapping[str, object]]]
"""For each column a statement, and what it names."""


def rows() -> Iterator[tuple[str, Cells, str]]:
    """Name, the statement of each column with what it names, and the limit."""
    declared, assigned, inferno = Declared(SIDE), Assigned(SIDE), Inferno(SIDE)
    for name, text in (("causal mask, from a number", "causal"), ("mask of a buffer", "positive")):
        columns: Cells = {
            "cached": (f"m.{text}", {"m": declared}),
            "VirtualTensor": (f"m.{text}.value", {"m": assigned}),
            "inferno": (f"m.{text}.value", {"m": inferno}),
        }
        yield name, columns, "200 ns"


def agree(columns: Cells) -> bool:
    """Whether the statements of all columns give equal tensors."""
    first, *others = (eval(statement, dict(names)) for statement, names in columns.values())
    return all(torch.equal(first, other) for other in others)


def compare() -> list[Row]:
    """Check, then time, every read.

    Raises `SystemExit` naming the tensor where the columns differ.
    """
    measured = []
    for name, columns, limit in rows():
        if not agree(columns):
            raise SystemExit(f"{name}: the columns differ")
        measured.append(Row(name, time_statements(columns, ROUNDS), limit))
    return measured


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.derived", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the times there as well")
    options = parser.parse_args()
    torch.set_num_threads(1)
    measured = compare()
    print(table(measured, lambda first, other: f"{first / other:.3f}", "/"))
    if options.json:
        write_json(options.json, measured)


if __name__ == "__main__":
    main()
