"""Requests and replies."""

from __future__ import annotations

from torch import Tensor

from qten_gen import TensorClass


class Request(TensorClass):
    """The base of all requests."""

    user: str = "nobody"


class Text(Request):
    tokens: Tensor | None = None

    @property
    def ids(self) -> Tensor:
        assert self.tokens is not None
        return self.tokens


class Image(TensorClass):
    pixels: Tensor

    def flat(self) -> Tensor:
        return self.pixels.flatten(len(self.batch_size))


class Caption(Image):
    prompt: Text | None = None


class Reply(TensorClass):
    scores: Tensor
    model: str = "?"

    def best(self) -> Tensor:
        return self.scores.argmax(-1)


class Failure(TensorClass):
    reason: str
