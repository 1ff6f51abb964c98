"""TensorClasses with every kind of field, flag and spelling."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Generic, Optional, TypeVar, Union

import torch
import torch as t
from jaxtyping import Float, Int
from torch import Tensor

import qten_gen as q
from qten_gen import PerItem, Ragged, TensorClass, Unbatched

Tokens = Int[Tensor, "*batch seq"]
T = TypeVar("T", bound=Tensor)


@dataclass
class Settings:
    """Static metadata of any type."""

    rate: float = 0.1


class Point(q.TensorClass):
    """A point."""

    position: torch.Tensor
    weight: t.Tensor = q.field(default=torch.ones(()))


class Empty(TensorClass):
    """No field at all."""


class Note(TensorClass, nocast=True):
    """Only static fields."""

    limit: ClassVar[int] = 3

    text: str
    count: int = 0
    settings: Settings = q.field(default_factory=Settings)
    path: Path | None = None


class Spelled(TensorClass):
    """The same kinds, spelled differently."""

    tokens: Tokens
    """Token ids, padded with zeros."""
    scores: Optional[Float[Tensor, "*batch classes"]] = None
    plain: "Tensor | None" = None
    united: Union[Tensor, None] = None
    noted: Annotated[Tensor, "the same as Tensor"] = q.field(default_factory=lambda: torch.zeros(()))
    point: "Point | None" = None
    rate: float = q.field(default=1e-3, kw_only=True)  # a number becomes a tensor


class Lookup(TensorClass, autocast=True):
    """Holds tensors that the batch does not carry."""

    ids: Tensor
    table: q.Unbatched[Tensor]
    """A row for each id."""
    bias: Optional[Unbatched[Float[Tensor, "vocab dim"]]] = None
    scale: "Unbatched[Tensor | None]" = None


class Layered(TensorClass):
    """Several tensors in one field."""

    layers: list[Tensor]
    heads: Optional[dict[str, Tensor]] = None
    """Logits by task."""
    tables: Unbatched[dict[str, Tensor]] = q.field(default_factory=dict)
    rest: "Unbatched[list[Tensor] | None]" = None


class Listed(TensorClass):
    """Python values, one for each item."""

    x: Tensor
    titles: q.PerItem[str]
    ids: Optional[PerItem[int]] = None
    notes: "PerItem[list[str] | None]" = q.field(default_factory=lambda: PerItem([None], ()))


class Detections(q.SizedTensorClass):
    """Items with different numbers of rows."""

    image: Tensor
    boxes: Ragged[Float[Tensor, "n 4"]]
    """Corners of each."""
    points: "q.Ragged[Point]"
    words: Optional[Ragged[Tensor]] = None
    parts: Ragged[Point] | None = None


class Trusted(Spelled, checks="off"):
    """Takes what the annotations say on trust."""

    odd: Optional[Float[Tensor, "*batch seq+1"]] = q.field(default=None, kw_only=True)


class Frozen(TensorClass["nocast", "frozen"]):  # type: ignore[type-arg, name-defined]  # mypy reads the flags as types
    """Immutable, in bracket form."""

    x: Tensor
    steps: int = 3

    def doubled(self) -> "Frozen":
        """Twice the tensor."""
        return self.replace(x=self.x * 2)


class Cast(TensorClass, autocast=True):
    """Values are converted to what the annotation says."""

    x: Tensor
    count: int = 0
    name: Optional[str] = None
    weight: "q.AsTensor[float | None]" = q.number(default=1)


class Awkward(TensorClass, open=True):
    """Fields called like things that generated code uses."""

    n: Tensor
    type: Tensor
    property: Tensor
    isinstance: Tensor
    len: Tensor
    value: Tensor
    index: Tensor
    fn: str = "fn"
    zip: str = "it's"
    out: str = 'say "hello"'


class Marked(Point):
    """Adds a field and changes the default of another."""

    weight: Tensor = q.field(default_factory=lambda: torch.zeros(()))
    mark: Optional["Marked"] = None

    def __post_init__(self) -> None:
        self.position = self.position.float()


class Pair(TensorClass, Generic[T]):
    """Generic over a kind of tensor."""

    first: T
    second: T | None = None


class Reward(TensorClass, open=True):
    """May be combined with another class that has fields."""

    reward: Tensor


class State(TensorClass):
    """What can be combined with it."""

    state: Tensor


class Step(Reward, State):
    """Two parents with fields."""

    note: str = ""
