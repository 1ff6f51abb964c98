"""What passes through a pipeline, and the stages of one."""

from __future__ import annotations

from typing import Generic, TypeVar

from torch import Tensor, nn

from qten_gen import Module, TensorClass, param


class Logits(TensorClass):
    scores: Tensor


class Probabilities(TensorClass):
    scores: Tensor

    def entropy(self) -> Tensor:
        return -(self.scores * self.scores.log()).sum(-1)


In = TypeVar("In", bound=TensorClass)
Out = TypeVar("Out", bound=TensorClass)


class Stage(Module, Generic[In, Out]):
    scale: float = 1.0

    def forward(self, given: In) -> Out:
        raise NotImplementedError


class Sharpen(Stage[Logits, Logits]):
    power: nn.Parameter = param(1, initializer=nn.init.ones_)

    def forward(self, given: Logits) -> Logits:
        return given.replace(scores=given.scores * self.power * self.scale)


class Softmax(Stage[Logits, Probabilities]):
    def forward(self, given: Logits) -> Probabilities:
        return Probabilities(given.scores.softmax(-1), batch_size=given.batch_size)


class Colder(Sharpen):
    scale: float = 4.0


T = TypeVar("T", bound=Logits)


class Same(Module):
    def forward(self, given: T) -> T:
        return given


class Kept(TensorClass, Generic[T]):
    """An object with its weight."""

    inner: T
    weight: Tensor


class KeptLogits(Kept[Logits], nocast=True):
    step: int = 0
