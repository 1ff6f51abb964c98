"""Batch types, and modules that answer to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

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

    @overload
    def forward(self, x: Tensor, *, scale: float = 1.0) -> Tensor: ...
    @overload
    def forward(self, x: Speech, *, language: str, hints: Sequence[str] = ()) -> dict[str, float]: ...
    @overload
    def forward(self, x: Sound, *, scale: float = 1.0) -> Sound: ...
    @overload
    def forward(self, x: str) -> int: ...
    def forward(self, x: Any, *, scale: float = 1.0, **_: Any) -> Any:
        """Scale."""
        return x * self.gain * scale


class Deep(Encoder):
    """Inherits all handlers and registers none."""

    depth: int = 2


class Loud(Encoder):
    """Inherits handlers, and replaces one."""

    @overload
    def forward(self, x: Tensor, *, scale: float = 1.0) -> Tensor: ...
    @overload
    def forward(self, x: Speech, *, language: str, hints: Sequence[str] = ()) -> dict[str, float]: ...
    @overload
    def forward(self, x: Sound, *, scale: float = 2.0) -> Speech: ...
    @overload
    def forward(self, x: str) -> int: ...
    def forward(self, x: Any, **keywords: Any) -> Any:
        """Scale as the parent does."""
        return super().forward(x, **keywords)


class Silent(Module):
    """Has handlers and no forward."""
