"""Annotations and defaults: those that say no kind, or several; then those that are right, of which nothing is printed."""

import dataclasses
from dataclasses import KW_ONLY, InitVar
from typing import Callable, Generic, Self, TypeVar

import torch
from jaxtyping import Float
from qten_gen import AsTensor, Module, PerItem, TensorClass, Unbatched
from torch import Tensor, nn

from . import common
from .common import FLAG, SIZE, SIZES

try:
    from library import Output
except ImportError:
    Output = object

Free = TypeVar("Free")
Item = TypeVar("Item", bound=TensorClass)


class Inner(TensorClass): ...


class Other(TensorClass): ...


class SeveralKinds(TensorClass):
    a: Tensor | str
    b: Inner | Other
    c: Inner | Tensor
    d: Inner | str
    e: dict[int, Tensor]
    f: dict[str, list[Tensor]]
    g: list[Tensor | None]
    h: list[Tensor] | Tensor
    i: list[Float[Tensor, "*batch"]]
    j: tuple[str, list[Inner]]
    k: Unbatched[list[Inner]]
    l: TensorClass
    m: Free | Tensor
    n: Unbatched[Free]
    o: Unbatched[Inner]
    p: Unbatched[Tensor] | Tensor
    q: PerItem[str] | str
    r: PerItem[list[Inner]]
    s: AsTensor[str]
    t: AsTensor[int] | None
    u: Self


class OnlyForDataclasses(TensorClass):
    a: KW_ONLY
    b: InitVar[int]


class Pair(TensorClass, Generic[Item]):
    x: Item | None


class OfPair(Pair[Item]):
    y: Item | None


class Unknown(TensorClass):
    x: dict[str, Tensr]
    y: torch


class Numbers(TensorClass):
    x: float | None


class NoneWhereATensorIs(TensorClass):
    a: Tensor = None
    b: "Tensor" = None
    c: 'Tensor' = None  # fmt: skip


class Defaults(TensorClass):
    a: tuple[int, ...] = SIZE
    b: tuple[int, ...] = common.SIZE
    c: str = 2 * SIZE
    d: str = FLAG
    e: int = (SIZE, 1)
    f: list[int] = SIZES
    g: list[int] = common.SIZES


class DefaultsOfModule(Module):
    a: tuple[int, ...] = SIZE
    b: tuple[int, ...] = common.SIZE
    c: str = FLAG
    d: list[int] = SIZES


class Loss(Output):
    loss: Tensor


# From here on nothing is wrong.


class OneKind(TensorClass, nocast=True):
    a: PerItem[str]
    b: PerItem[str | None] | None
    c: Unbatched[Tensor]
    d: Unbatched[Tensor] | None
    e: Unbatched[Tensor | None]
    f: list[Tensor]
    g: dict[str, Tensor] | None
    h: Unbatched[dict[str, Tensor]]
    i: list[str]
    j: Callable[[Tensor], Tensor]
    k: type[Tensor]
    l: nn.Parameter | Tensor
    m: object
    n: str | int
    o: float | None


class Cast(TensorClass, autocast=True):
    x: float | None
    y: AsTensor[float | None]
    z: object = SIZE


@dataclasses.dataclass
class PlainLoss(Output):
    loss: Tensor
