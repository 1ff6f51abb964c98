"""A batch with Ragged fields, its items, and how the two are compared."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from qten_gen import PerItem, Ragged, TensorClass

LENGTHS = [3, 0, 2, 1]
equal: Any = torch.equal  # also of objects, which the types of torch do not say
allclose: Any = torch.allclose


class Targets(TensorClass):
    """The rows of one field."""

    boxes: Float[Tensor, "*batch 4"]
    labels: Tensor


class Batch(TensorClass):
    """A field of each kind of rows, beside other kinds of fields."""

    image: Tensor
    boxes: Ragged[Float[Tensor, "n 4"]]
    targets: Ragged[Targets]
    words: Ragged[Tensor] | None = None
    marks: PerItem[str] | None = None
    tag: str = "train"


class Frozen(TensorClass, frozen=True):
    """Objects that cannot be changed."""

    boxes: Ragged[Tensor]


class Outer(TensorClass):
    """Holds a batch."""

    batch: Batch


def sample(number: int, length: int) -> Batch:
    """One item, whose numbers tell which."""
    boxes = torch.full((length, 4), float(number)) + torch.arange(length).unsqueeze(1) / 10
    return Batch(
        torch.full((2,), float(number)),
        boxes,
        Targets(boxes + 100, torch.arange(length), batch_size=length),
        Ragged(boxes[:, 0]),
    )


def items() -> list[Batch]:
    return [sample(*pair) for pair in enumerate(LENGTHS)]


def batch() -> Batch:
    return Batch.stack(items())


def plain(value: Batch) -> list[tuple[Tensor, ...]]:
    """The tensors of each item, row by row of the batch."""
    flat = value.reshape(-1) if value.batch_size else value.unsqueeze(0)
    words = [None] * len(flat) if flat.words is None else flat.words.as_list()
    rows = flat.targets.as_list()
    every = zip(flat.image, flat.boxes.as_list(), rows, words, strict=True)
    return [
        (image, boxes, one.boxes, one.labels, torch.zeros(()) if word is None else word)
        for image, boxes, one, word in every
    ]


def assert_items(found: Batch, expected: list[Batch]) -> None:
    """Compare a batch with its items, which stand alone."""
    mine = plain(found)
    assert len(mine) == len(expected)
    for one, item in zip(mine, expected, strict=True):
        for left, right in zip(one, plain(item)[0], strict=True):
            assert left.dtype is right.dtype
            assert equal(left, right)


MASK = torch.tensor([True, False, False, True])


class Part(TensorClass):
    """Rows with ragged items and Python values of their own."""

    box: Tensor
    outline: Ragged[Tensor]
    name: PerItem[str]


class Drawing(TensorClass):
    """Ragged items of ragged items."""

    parts: Ragged[Part]


def drawing(number: int, lengths: list[int]) -> Drawing:
    """One drawing, whose parts have outlines of these lengths."""
    outlines = [torch.arange(length) + number for length in lengths]
    names = [f"{number}.{at}" for at in range(len(lengths))]
    return Drawing(Part(torch.full((len(lengths), 4), float(number)), outlines, names, batch_size=len(lengths)))
