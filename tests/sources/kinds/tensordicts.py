"""Fields that hold what tensordict makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

from tensordict import TensorDict, tensorclass
from torch import Tensor

from qten_gen import TensorClass

if TYPE_CHECKING:
    from tensordict import TensorDictBase


@tensorclass
class Made:
    """A class that tensordict makes."""

    a: Tensor


class Collected(TensorClass):
    """TensorDicts, in every spelling."""

    x: Tensor
    td: TensorDict
    """A TensorDict."""
    made: Made | None = None
    base: Optional[TensorDictBase] = None


class Fixed(TensorClass, frozen=True):
    """A frozen class with one."""

    td: TensorDict
