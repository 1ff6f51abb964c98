"""Two patterns of groups overlap, so that an embedding decays. torch refuses that only in one optimizer."""

from typing import Any

import torch
from torch import nn

from qten_gen import partition

PLAIN = "some parameters appear in more than one parameter group"
OURS = "partition(): embedding.weight is in 'no_decay' and in 'decay'"


def model() -> nn.Module:
    return nn.ModuleDict({"embedding": nn.Embedding(3, 2), "head": nn.Linear(2, 2)})


def plain() -> None:
    named = list(model().named_parameters())
    decay = [parameter for name, parameter in named if name.endswith("weight")]
    others = [parameter for name, parameter in named if "embedding" in name or name.endswith("bias")]
    groups: list[dict[str, Any]] = [{"params": decay}, {"params": others, "weight_decay": 0.0}]
    torch.optim.AdamW(groups)


def ours() -> None:
    partition(model(), {"decay": "**.weight", "no_decay": ["embedding.**", "**.bias"]})
