"""Parameters of a new layer are in no group of the optimizer, and never change (mace#1529, luxonis-train#432)."""

import torch
from torch import nn

from qten_gen import audit

PLAIN = ""
OURS = "audit(): in no group: readout.weight, readout.bias"


def built() -> tuple[nn.Module, torch.optim.Optimizer]:
    model = nn.ModuleDict({"body": nn.Linear(2, 2), "readout": nn.Linear(2, 2)})
    return model, torch.optim.AdamW([{"params": model["body"].parameters(), "weight_decay": 0.1}])


def plain() -> None:
    model, optimizer = built()
    sum(parameter.sum() for parameter in model.parameters()).backward()  # type: ignore[union-attr] # a tensor
    optimizer.step()


def ours() -> None:
    audit(*built())
