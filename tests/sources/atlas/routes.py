"""Routes on maps."""

from __future__ import annotations

from torch import Tensor

from qten_gen import TensorClass

from .maps import Map, draw


class Route(TensorClass):
    """A way over some heights."""

    heights: Tensor

    def drawn(self) -> Map:
        return draw(len(self))
