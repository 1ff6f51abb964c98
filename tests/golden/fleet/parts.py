"""What vehicles are made of. The import aliases are used in no other file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Optional, TypeVar, Union, overload

import torch as th
from torch import nn

import qten_gen as q
from qten_gen import Module
from qten_gen import TensorClass as Record

if TYPE_CHECKING:
    from .trucks import Truck

Label = TypeVar("Label", bound=int | str)


class Wheel(Record):
    """A wheel."""

    radius: th.Tensor
    wear: Optional[th.Tensor] = None
    pressure: Union[th.Tensor, None] = q.field(default=None, kw_only=True)


class Tagged(Record, Generic[Label], nocast=True):
    """Something with a label of any kind."""

    weight: th.Tensor
    label: Label


class Fixed(Record, frozen=True):
    """Immutable, and with a nested field."""

    wheel: Wheel


class Gauge(Module):
    """Measures what is registered for it, in another file."""

    width: int
    gain: nn.Parameter = q.param("width", initializer=nn.init.ones_)

    @overload
    def forward(self, x: th.Tensor) -> th.Tensor: ...
    @overload
    def forward(self, x: Truck) -> Wheel: ...
    @overload
    def forward(self, x: str, *, factor: int, **words: str) -> int: ...
    def forward(self, x: Any, **_: Any) -> Any:
        """Scale."""
        return x * self.gain


class Dial(Gauge):
    """Sets its gain when everything is made."""

    def __post_init__(self) -> None:
        nn.init.constant_(self.gain, 2.0)
