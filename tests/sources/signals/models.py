"""Batch types, and modules that answer to them."""

from __future__ import annotations

from torch import Tensor, nn

from qten_gen import Module, TensorClass, param


class Sound(TensorClass):
    """A wave."""

    wave: Tensor


class Speech(Sound):
    """A wave in which somebody speaks."""

    speaker: str = "nobody"


class Encoder(Module):
    """Its handlers are in another file."""

    width: int
    gain: nn.Parameter = param("width", initializer=nn.init.ones_)

    def forward(self, x: Tensor, *, scale: float = 1.0) -> Tensor:
        """Scale."""
        return x * self.gain * scale


class Deep(Encoder):
    """Inherits all handlers and registers none."""

    depth: int = 2


class Loud(Encoder):
    """Inherits handlers, and replaces one."""


class Silent(Module):
    """Has handlers and no forward."""
