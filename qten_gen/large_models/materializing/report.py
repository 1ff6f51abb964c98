"""The report of `materialize`: the source of each tensor's values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import Literal

import torch

Source = Literal["checkpoint", "initialiser", "tie"]


@dataclass(frozen=True, slots=True)
class MaterializedTensor:
    """Where the values of one tensor are from.

    >>> tied = MaterializedTensor("head.weight", (8, 4), (8, 4), torch.float32, "tie", "embed.weight")
    >>> tied.source, tied.detail
    ('tie', 'embed.weight')
    """

    name: str
    """The qualified name."""
    shape: tuple[int, ...]
    local_shape: tuple[int, ...]
    """The shape of the part that this process holds."""
    dtype: torch.dtype
    source: Source
    detail: str
    """The file, and the name there if it is another; the initialiser; or the name that the tensor is tied to."""


@dataclass(frozen=True, slots=True)
class MaterializeReport:
    """The report of `materialize`: the source of each tensor's values. Its text is a table.

    `module.materialize(device, report=function)` calls the function with it.

    >>> reports: list[MaterializeReport] = []
    >>> linear = Linear.on_meta(2, 3).materialize("cpu", seed=7, report=reports.append)
    >>> print(reports[0])
    1 tensor with seed 7: 1 initialised; 24 bytes in this process
    weight  float32 [2, 3]  initialiser  Linear.reset_parameters
    >>> reports[0].named("initialiser"), reports[0].named("checkpoint"), reports[0].nbytes
    (('weight',), (), 24)
    """

    tensors: tuple[MaterializedTensor, ...]
    seed: int | None = None
    """The seed of what was initialised; None if nothing was drawn."""
    bytes_read: int = 0
    """Bytes that were copied out of the checkpoint in this process."""

    def named(self, source: Source) -> tuple[str, ...]:
        """The names of the tensors from one source."""
        return tuple(each.name for each in self.tensors if each.source == source)

    @property
    def nbytes(self) -> int:
        """The bytes of all tensors in this process; a tie counts once."""
        return sum(prod(each.local_shape) * each.dtype.itemsize for each in self.tensors if each.source != "tie")

    def __str__(self) -> str:
        count = Counter(each.source for each in self.tensors)
        words: dict[Source, str] = {"checkpoint": "loaded", "initialiser": "initialised", "tie": "tied"}
        parts = ", ".join(f"{count[source]} {word}" for source, word in words.items() if count[source])
        tensors = "1 tensor" if len(self.tensors) == 1 else f"{len(self.tensors)} tensors"
        seed = f" with seed {self.seed}" if self.seed is not None else ""
        read = f", {_spelled(self.bytes_read)} read" if self.bytes_read else ""
        head = f"{tensors}{seed}: {parts or 'nothing to do'}; {_spelled(self.nbytes)} in this process{read}"
        return "\n".join([head, *_table(_row(each) for each in self.tensors)])


def _row(each: MaterializedTensor) -> tuple[str, ...]:
    here = f", here {list(each.local_shape)}" if each.local_shape != each.shape else ""
    return each.name, f"{str(each.dtype).removeprefix('torch.')} {list(each.shape)}{here}", each.source, each.detail


def _table(rows: Iterable[tuple[str, ...]]) -> list[str]:
    lines = list(rows)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return ["  ".join(map(str.ljust, line, widths)).rstrip() for line in lines]


def _spelled(size: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"
