"""The data set of the example: a text about days in a village, composed of a small set of sentences."""

from pathlib import Path

import torch
from torch import Tensor

from .model import Passages


def load() -> Tensor:
    """The byte values of the text, of shape `(length,)` and dtype int64."""
    return encode((Path(__file__).parent / "village.txt").read_text(encoding="ascii"))


def encode(text: str) -> Tensor:
    return torch.tensor(list(text.encode()))


def decode(tokens: Tensor) -> str:
    return bytes(tokens.tolist()).decode(errors="replace")


def passages(tokens: Tensor, length: int) -> Passages:
    """Every passage of that length. The passages are views of `tokens`, so they take no extra memory."""
    windows = tokens.unfold(0, length + 1, 1)
    return Passages(windows[:, :-1], windows[:, 1:], batch_size=[len(windows)])
