"""A class with static fields of many types, which holds another object of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, Generic, Literal, TypeVar

import torch
from torch import Tensor

from qten_gen import TensorClass, field

Fn = Callable[[Tensor], Tensor]
S = TypeVar("S")
MAX: Final = 10


class Phase(Enum):
    WARM = auto()
    HOLD = auto()
    COOL = auto()


@dataclass(frozen=True, slots=True)
class Range(Generic[S]):
    low: S
    high: S


class Plan(TensorClass, nocast=True):
    rates: Tensor
    phase: Phase = Phase.WARM
    span: Range[int] = Range(0, 1)
    fn: Fn | None = None
    parent: Plan | None = None
    dtype_: torch.dtype = torch.float32
    kind: type[Exception] = ValueError
    level: Literal[0, 1, 2] = 0
    scale: float = 1.0
    options: dict[str, int | str] = field(default_factory=dict[str, int | str])

    def apply_fn(self) -> Plan:
        return self.replace(rates=self.fn(self.rates)) if self.fn is not None else self

    def chain(self) -> Iterator[Plan]:
        plan: Plan | None = self
        while plan is not None:
            yield plan
            plan = plan.parent

    def next_phase(self) -> Phase | None:
        match self.phase:
            case Phase.WARM:
                return Phase.HOLD
            case Phase.HOLD:
                return Phase.COOL
            case Phase.COOL:
                return None

    @property
    def root(self) -> Plan:
        return self.parent.root if self.parent is not None else self


def plans() -> dict[str, Plan]:
    return {"short": Plan(torch.ones(2), batch_size=2)}


def build(makers: dict[str, Callable[[], Plan]], name: str = "short") -> Plan | None:
    return makers[name]() if name in makers else None


DEFAULT: Final[Plan] = Plan(torch.zeros(1))
