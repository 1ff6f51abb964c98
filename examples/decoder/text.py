"""The text that comes with the example: days in a village, composed from a small stock of sentences."""

from pathlib import Path

import torch
from torch import Tensor

from .model_qten import Passages


def load() -> Tensor:
    """The bytes of the text."""
    return encode((Path(__file__).parent / "village.txt").read_text(encoding="ascii"))


def encode(text: str) -> Tensor:
    return torch.tensor(list(text.encode()))


def decode(tokens: Tensor) -> str:
    return bytes(tokens.tolist()).decode(errors="replace")


def passages(tokens: Tensor, length: int) -> Passages:
    """Every passage of that length: views of `tokens`, so there can be many."""
    windows = tokens.unfold(0, length + 1, 1)
    return Passages(windows[:, :-1], windows[:, 1:], batch_size=[len(windows)])
