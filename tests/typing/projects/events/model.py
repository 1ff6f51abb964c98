"""Events, three levels of classes deep."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Literal, Protocol, Self, final, runtime_checkable

from torch import Tensor

from qten_gen import TensorClass


@runtime_checkable
class Timed(Protocol):
    time: Tensor


class Event(TensorClass):
    time: Tensor
    count: ClassVar[int] = 0

    def __post_init__(self) -> None:
        type(self).count += 1

    @abstractmethod
    def describe(self) -> str: ...

    def later(self, by: float) -> Self:
        return self.replace(time=self.time + by)


class Click(Event):
    x: Tensor
    y: Tensor
    button: Literal["left", "right"] = "left"

    def describe(self) -> str:
        return f"click {self.button}"

    @property
    def point(self) -> tuple[Tensor, Tensor]:
        return self.x, self.y


@final
class DoubleClick(Click):
    gap: Tensor | None = None

    def describe(self) -> str:
        return "double " + super().describe()

    @classmethod
    def of(cls, first: Click, second: Click) -> DoubleClick:
        return cls(first.time, first.x, first.y, first.button, second.time - first.time, batch_size=first.batch_size)


class Key(Event):
    code: Tensor

    def describe(self) -> str:
        return "key"
