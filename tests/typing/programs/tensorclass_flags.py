"""Class flags as keywords are checked; in brackets mypy takes them for types."""

from typing import assert_type

import torch
from torch import Tensor

from qten_gen import TensorClass


class Keyword(TensorClass, autocast=True, frozen=True):
    x: Tensor


class Child(Keyword, frozen=True):
    y: Tensor | None = None


class Bracket(TensorClass["nocast"]):  # E mypy
    x: Tensor
    count: int = 0


class Unfrozen(Keyword, frozen=False):  # E
    z: Tensor | None = None


class Collides(TensorClass):
    split: Tensor  # E


class OwnConstructor(TensorClass):
    x: Tensor

    def __init__(self, length: int) -> None:
        super().__init__(x=torch.zeros(length), batch_size=length)


x = torch.ones(2)
assert_type(Child(x, x), Child)
assert_type(Bracket(x, 3).count, int)
assert_type(OwnConstructor(3)[0], OwnConstructor)
OwnConstructor(x=x)  # E
