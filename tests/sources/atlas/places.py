"""Places, and notes about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, Self, TypeVar

import torch
from torch import Tensor

from qten_gen import TensorClass


class Place(TensorClass):
    """A point on a map."""

    xy: Tensor

    def mirrored(self) -> Place:
        """The place on the other side of the origin."""
        return self.replace(xy=-self.xy)

    def moved(self, by: Tensor) -> Self:
        """The place, a little further."""
        return self.replace(xy=self.xy + by)

    @classmethod
    def middle(cls, of: Sequence[Place]) -> Place:
        """The centre of gravity."""
        return Place(torch.stack([each.xy for each in of]).mean(0), batch_size=of[0].batch_size)

    @staticmethod
    def farthest(among: list[Place]) -> Place:
        """The place that is farthest from the origin."""
        return max(among, key=lambda place: float(place.xy.abs().sum()))


class Town(Place):
    """A place with people."""

    people: Tensor


P = TypeVar("P", bound=Place)


class Note(TensorClass, Generic[P]):
    """A note about a place of any kind."""

    about: P
    stars: Tensor

    def place(self) -> P:
        """What the note is about."""
        return self.about


Pair = tuple[Place, Place]


def origin() -> Place:
    """The place where both coordinates are zero."""
    return Place(torch.zeros(2), batch_size=[])


START: Place = origin()
