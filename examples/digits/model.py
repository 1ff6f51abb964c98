"""Handwritten digits, and a network that reads them row by row."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from qten_gen import Module, TensorClass, buffer, param, submodule, virtual


class Digits(TensorClass):
    """Grey images with the digit each of them shows."""

    images: Tensor
    labels: Tensor
    subset: str = "training"


class Answers(TensorClass):
    """Digits, and what the network says of them."""

    digits: Digits
    scores: Tensor

    @property
    def loss(self) -> Tensor:
        """Mean cross entropy."""
        return functional.cross_entropy(self.scores, self.digits.labels)

    @property
    def right(self) -> Tensor:
        """Whether the highest score is that of the digit shown."""
        return self.scores.argmax(-1) == self.digits.labels


class Attention(Module):
    """One head of self-attention: every row looks at all the others."""

    width: int
    norm: nn.LayerNorm = submodule(nn.LayerNorm, "width")
    projection: nn.Parameter = param("3*width", "width", initializer=nn.init.xavier_uniform_)

    def forward(self, rows: Tensor) -> Tensor:
        """Rows of shape `(..., side, width)`, changed by what they see."""
        query, key, value = functional.linear(self.norm(rows), self.projection).chunk(3, dim=-1)
        return rows + functional.scaled_dot_product_attention(query, key, value)


class Classifier(Module):
    """Reads a square image as a sentence of `side` rows."""

    side: int = 8
    width: int = 32
    classes: int = 10

    average: Tensor = buffer("side", "side", initializer=nn.init.zeros_)
    embedding: nn.Parameter = param("width", "side", initializer=nn.init.xavier_uniform_)
    attention: Attention = submodule(Attention, "width")
    scores: nn.Linear = submodule(nn.Linear, "side*width", "classes")

    @virtual(cached=True)
    def positions(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        """Waves that tell the rows apart, of shape `(side, width)`."""
        rates = torch.logspace(0, -1, self.width // 2, dtype=dtype, device=device)
        angles = torch.arange(self.side, dtype=dtype, device=device)[:, None] * rates
        return torch.cat([angles.sin(), angles.cos()], dim=-1)

    def forward(self, images: Tensor) -> Tensor:
        """Scores of shape `(batch, classes)` for images of shape `(batch, side, side)`."""
        rows = functional.linear(images - self.average, self.embedding) + self.positions
        scores: Tensor = self.scores(self.attention(rows).relu().flatten(1))
        return scores


@Classifier.register(Digits)
def _(classifier: Classifier, digits: Digits) -> Answers:
    return Answers(digits, classifier(digits.images), batch_size=digits.batch_size)
