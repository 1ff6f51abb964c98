"""`gate`, a router that was to stay in full precision, was also found in `gate_proj`, or nowhere (transformers#47990)."""

from torch import nn

from qten_gen import select

PLAIN = ""
OURS = "select(): '**.gate' matches nothing: did you mean gate_proj?"


def model() -> nn.Module:
    return nn.ModuleDict({"mlp": nn.ModuleDict({"router": nn.Linear(2, 2), "gate_proj": nn.Linear(2, 2)})})


def plain() -> None:
    kept = [name for name, _ in model().named_modules() if "gate" in name]
    assert kept == ["mlp.gate_proj"]


def ours() -> None:
    select(model(), "**.gate", of="modules")
