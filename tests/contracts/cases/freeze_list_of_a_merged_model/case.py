"""A freeze list was written for a policy. The policy became a part of another model, and nothing is frozen (lerobot#4018)."""

from torch import nn

from qten_gen import select

PLAIN = ""
OURS = "select(): 'encoder.**' matches nothing: there are policy"


def model() -> nn.Module:
    return nn.ModuleDict({"policy": nn.ModuleDict({"encoder": nn.Linear(2, 2), "head": nn.Linear(2, 2)})})


def plain() -> None:
    for name, parameter in model().named_parameters():
        if name.startswith("encoder."):
            parameter.requires_grad = False


def ours() -> None:
    for parameter in select(model(), "encoder.**").values():
        parameter.requires_grad = False
