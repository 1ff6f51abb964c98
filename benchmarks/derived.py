"""Tensors derived from others: cached and plain virtual tensors against inferno's way, which computes at every read.

A causal mask of 512 x 512, derived from a size. The columns are checked to give equal values before they are timed.
"""

from __future__ import annotations

import argparse
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path

import torch
from torch import Tensor, nn

from qten_gen import Module, VirtualTensor, virtual

from .timing import Row, table, time_statements, write_json

ROUNDS = 15
SIDE = 512


class Declared(Module):
    """A virtual tensor that is kept."""

    size: int

    @virtual(cached=True)
    def causal(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.ones(self.size, self.size, dtype=dtype, device=device).tril_()


class Plain(nn.Module):
    """What both ways share, in nn.Module's style."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def make_causal(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        """A lower triangle of ones."""
        return torch.ones(self.size, self.size, dtype=dtype, device=device).tril_()


class Assigned(Plain):
    """`qten_gen.VirtualTensor`, assigned in a module written by hand."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.causal = VirtualTensor(self, "causal", "make_causal")


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
    """A module with a derived tensor in inferno's way."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.causal = Reference(self, "causal", "make_causal")


Cells = Mapping[str, tuple[str, Mapping[str, object]]]
"""For each column a statement, and what it names."""


def rows() -> Iterator[tuple[str, Cells, str]]:
    """Name, the statement of each column with what it names, and the limit."""
    declared, assigned, inferno = Declared(SIDE), Assigned(SIDE), Inferno(SIDE)
    columns: Cells = {
        "cached": ("m.causal", {"m": declared}),
        "VirtualTensor": ("m.causal.value", {"m": assigned}),
        "inferno": ("m.causal.value", {"m": inferno}),
    }
    yield "causal mask, from a number", columns, "200 ns"


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
