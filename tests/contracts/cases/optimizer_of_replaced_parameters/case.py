"""The optimizer was built before a layer was replaced: it trains parameters that the model does not have."""

import torch
from torch import nn

from qten_gen import audit

PLAIN = ""
OURS = "audit(): in no group: head.weight, head.bias; 2 that the module does not have, of shape (4, 2), (4,)"


def built() -> tuple[nn.Module, torch.optim.Optimizer]:
    model = nn.ModuleDict({"body": nn.Linear(2, 2), "head": nn.Linear(2, 4)})
    optimizer = torch.optim.AdamW(model.parameters())
    model["head"] = nn.Linear(2, 3)
    return model, optimizer


def plain() -> None:
    model, optimizer = built()
    sum(parameter.sum() for parameter in model.parameters()).backward()  # type: ignore[union-attr] # a tensor
    optimizer.step()


def ours() -> None:
    audit(*built())
