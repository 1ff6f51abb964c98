"""The project that editors look at: declarations, what was generated for them, and a program that uses them."""

from __future__ import annotations

from pathlib import Path

import pytest

from qten_gen.cli.command import main

from .language_server import Place

MODEL = '''\
"""What the shop sells."""

from typing import Any, overload

import torch
from torch import Tensor, nn

from qten_gen import Module, TensorClass, buffer, field, param, submodule


class Point(TensorClass):
    """A point and how sure we are of it."""

    position: Tensor
    weight: Tensor = field(default_factory=lambda: torch.ones(()))


class Batch(TensorClass):
    """Token ids with their marks."""

    tokens: Tensor
    """What was read."""
    point: Point
    mask: Tensor | None = None
    source: str = "train"

    @property
    def lengths(self) -> Tensor:
        """Number of tokens in each row."""
        return torch.full(self.batch_size, self.tokens.shape[-1])

    def shortened(self, length: int) -> Tensor:
        """The first tokens of each row."""
        return self.tokens[:, :length]


class Attention(Module):
    """Weights over the rows of a batch."""

    dim: int
    heads: int = 8
    qkv: nn.Parameter = param("3*dim", "dim", initializer=nn.init.xavier_uniform_)
    scale: Tensor = buffer("heads", initializer=nn.init.ones_)
    norm: nn.LayerNorm = submodule(nn.LayerNorm, "dim")

    @overload
    def forward(self, x: Tensor, causal: bool = True) -> Tensor: ...
    @overload
    def forward(self, batch: Batch, /) -> Tensor: ...
    def forward(self, x: Any, causal: bool = True) -> Tensor:
        """Normalise and project."""
        return torch.as_tensor(self.norm(x) @ self.qkv.T)


@Attention.register(Batch)
def _(attention: Attention, batch: Batch) -> Tensor:
    return batch.tokens.float().mean()
'''

PROGRAM = """\
import torch
from torch import Tensor

from shop.model import Attention, Batch, Point

point = Point(torch.ones(2, 3), torch.ones(2), batch_size=[2])
batch = Batch(torch.zeros(2, 7), point, mask=None, source="test", batch_size=[2])
attention = Attention(8, heads=2)


def use(batch: Batch, attention: Attention) -> None:
    tokens = batch.tokens
    weight = batch.point.weight
    other = Batch(tokens=tokens, point=batch.point)
    out = attention(tokens, causal=False)
    part = batch[0]
    qkv = attention.qkv
    heads = attention.heads
    lengths = batch.lengths
    short = batch.shortened(3)
"""

FILES = {
    "shop/__init__.py": "",
    "shop/model.py": MODEL,
    "program.py": PROGRAM,
}


def write(root: Path) -> None:
    """Write the project, and generate what belongs to it."""
    for name, text in {**FILES, "pyproject.toml": "[tool.qten-gen]\n"}.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    generate(root)


def generate(root: Path) -> None:
    """What `qten-gen` does in the project."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        assert main(["shop"]) == 0


def after(file: str, text: str) -> Place:
    """The place behind the first such text in a file of the project."""
    whole = FILES[file]
    return place_of(file, whole[: whole.index(text) + len(text)])


def place_of(file: str, before: str) -> Place:
    """The place in a file that has so much text before it."""
    return file, before.count("\n"), len(before) - before.rfind("\n") - 1
