"""A batch of handwritten digits, and a network that classifies them row by row."""

from typing import Any, overload

import torch
from torch import Tensor, nn
from torch.nn import functional

from qten_gen import Module, TensorClass, buffer, param, submodule, virtual


class Digits(TensorClass):
    """Greyscale images of shape `(*batch, side, side)`, with the digit that each of them shows."""

    images: Tensor
    labels: Tensor
    subset: str = "training"


class Answers(TensorClass):
    """Digits, and the scores that the network gives them, of shape `(*batch, classes)`."""

    digits: Digits
    scores: Tensor

    @property
    def loss(self) -> Tensor:
        """The mean cross entropy."""
        return functional.cross_entropy(self.scores, self.digits.labels)

    @property
    def right(self) -> Tensor:
        """Whether the highest score is that of the digit shown, as bools of shape `batch`."""
        return self.scores.argmax(-1) == self.digits.labels


class Attention(Module):
    """One head of self-attention over the rows of an image."""

    width: int
    norm: nn.LayerNorm = submodule(nn.LayerNorm, "width")
    projection: nn.Parameter = param("3*width", "width", initializer=nn.init.xavier_uniform_)

    def forward(self, rows: Tensor) -> Tensor:
        """Add attention to `rows`, of shape `(..., side, width)`; the result has the same shape."""
        query, key, value = functional.linear(self.norm(rows), self.projection).chunk(3, dim=-1)
        return rows + functional.scaled_dot_product_attention(query, key, value)


class Classifier(Module):
    """Classifies a square image as a sequence of `side` rows."""

    side: int = 8
    width: int = 32
    classes: int = 10

    average: Tensor = buffer("side", "side", initializer=nn.init.zeros_)
    embedding: nn.Parameter = param("width", "side", initializer=nn.init.xavier_uniform_)
    attention: Attention = submodule(Attention, "width")
    scores: nn.Linear = submodule(nn.Linear, "side*width", "classes")

    @virtual(cached=True)
    def positions(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        """Sinusoidal positional encoding of the rows, of shape `(side, width)`."""
        rates = torch.logspace(0, -1, self.width // 2, dtype=dtype, device=device)
        angles = torch.arange(self.side, dtype=dtype, device=device)[:, None] * rates
        return torch.cat([angles.sin(), angles.cos()], dim=-1)

    @overload
    def forward(self, images: Tensor) -> Tensor: ...
    @overload
    def forward(self, images: Digits) -> Answers: ...
    def forward(self, images: Any) -> Any:
        """Scores of shape `(batch, classes)` for images of shape `(batch, side, side)`."""
        rows = functional.linear(images - self.average, self.embedding) + self.positions
        scores: Tensor = self.scores(self.attention(rows).relu().flatten(1))
        return scores


@Classifier.register(Digits)
def _(classifier: Classifier, digits: Digits) -> Answers:
    return Answers(digits, classifier(digits.images), batch_size=digits.batch_size)
