"""All names of a checkpoint have a prefix. With strict=False it loads, and the policy answers at random (lerobot#4577)."""

import torch
from torch import nn

from qten_gen import compare

PLAIN = ""
OURS = "  the names begin with 'model.', which has to be removed"


def checkpoint() -> dict[str, torch.Tensor]:
    return {f"model.{name}": value for name, value in nn.Linear(2, 2).state_dict().items()}


def plain() -> None:
    nn.Linear(2, 2).load_state_dict(checkpoint(), strict=False)


def ours() -> str:
    return "\n".join(compare(nn.Linear(2, 2), checkpoint()))
