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
    words: Ragged[Tensor]
    marks: PerItem[str] | None = None
    tag: str = "train"


class Maybe(TensorClass):
    """The same fields, each of which may be None."""

    image: Tensor
    boxes: Ragged[Float[Tensor, "n 4"]] | None = None
    targets: Ragged[Targets] | None = None
    words: Ragged[Tensor] | None = None


RAGGED = ("boxes", "targets", "words")
KINDS = {"required": RAGGED, "optional": RAGGED, "None": (), **{f"only {name}": (name,) for name in RAGGED}}
"""The kinds of batches, with the fields that are not None. All but the first are of the class `Maybe`."""


class Frozen(TensorClass, frozen=True):
    """Objects that cannot be changed."""

    boxes: Ragged[Tensor]


class Outer(TensorClass):
    """Holds a batch."""

    batch: Batch


def sample(number: int, length: int, kind: str = "required") -> Batch:
    """One item, whose numbers tell which. Of another kind it is a Maybe, which stands for a Batch in the tests."""
    boxes = torch.full((length, 4), float(number)) + torch.arange(length).unsqueeze(1) / 10
    targets = Targets(boxes + 100, torch.arange(length), batch_size=length)
    rows: dict[str, Any] = {"boxes": boxes, "targets": targets, "words": Ragged(boxes[:, 0])}
    make: Any = Batch if kind == "required" else Maybe
    made: Batch = make(torch.full((2,), float(number)), **{name: rows[name] for name in KINDS[kind]})
    return made


def items(kind: str = "required") -> list[Batch]:
    return [sample(*pair, kind) for pair in enumerate(LENGTHS)]


def batch(kind: str = "required") -> Batch:
    made = items(kind)
    return type(made[0]).stack(made)


def plain(value: Any) -> list[tuple[Tensor, ...]]:
    """The tensors of each item, row by row of the batch."""
    flat = value.reshape(-1) if value.batch_size else value.unsqueeze(0)
    columns = [[*flat.image], *(ragged.as_list() for ragged in (flat.boxes, flat.words) if ragged is not None)]
    if flat.targets is not None:
        rows = flat.targets.as_list()
        columns += [[one.boxes for one in rows], [one.labels for one in rows]]
    return [*zip(*columns, strict=True)]


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
