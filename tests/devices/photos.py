"""Objects of a TensorClass with a field of each kind, which move between devices."""

from __future__ import annotations

import torch
from torch import Tensor

from qten_gen import PerItem, TensorClass, Unbatched


class Frame(TensorClass):
    """Two tensors."""

    x: Tensor
    y: Tensor


class Photo(TensorClass):
    """A tensor, a Python value for each item, a table for all of them, several tensors, an object, and text."""

    x: Tensor
    title: PerItem[str]
    table: Unbatched[Tensor]
    heads: dict[str, Tensor]
    frame: Frame
    mask: Tensor | None = None
    subset: str = "train"


def frame(*batch_size: int) -> Frame:
    return Frame(torch.rand(*batch_size, 3), torch.rand(batch_size), batch_size=batch_size)


def photo() -> Photo:
    return Photo(torch.arange(4), list("abcd"), torch.ones(9), {"kind": torch.arange(4)}, frame(4), batch_size=4)


def tensors(value: Photo) -> list[Tensor]:
    return [value.x, value.table, value.heads["kind"], value.frame.x, value.frame.y]
