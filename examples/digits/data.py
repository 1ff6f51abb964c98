"""The 1,797 handwritten digits that come with scikit-learn, 8 by 8 pixels each."""

import torch
from sklearn.datasets import load_digits
from torch.utils.data import Dataset

from .model import Digits


def load(held_out: int) -> tuple[Digits, Digits]:
    """The training digits, and `held_out` digits for evaluation, shuffled with torch's generator."""
    pixels, labels = load_digits(return_X_y=True)
    images = torch.as_tensor(pixels, dtype=torch.float32).reshape(-1, 8, 8) / 16
    digits = Digits(images, torch.as_tensor(labels), batch_size=[len(images)])
    digits = digits[torch.randperm(len(digits))]
    return digits[held_out:], digits[:held_out].replace(subset="held-out")


class OneByOne(Dataset[Digits]):
    """A map-style dataset whose items are digits, for a DataLoader."""

    def __init__(self, digits: Digits) -> None:
        self.digits = digits

    def __len__(self) -> int:
        return len(self.digits)

    def __getitem__(self, index: int) -> Digits:
        return self.digits[index]
