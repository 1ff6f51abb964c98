"""Code that registers by strings has no findings with `OpenModule`, and a registry of module classes takes any arguments."""

from typing import assert_type

import torch
from torch import Tensor, nn

from qten_gen import Module, OpenModule


class Masked(OpenModule):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.register_buffer("mask", torch.ones(width))
        self.add_module("norm", nn.LayerNorm(width))
        for name in ("first", "second"):
            setattr(self, name, nn.Linear(width, width))
        self.later = None

    def forward(self, x: Tensor) -> Tensor:
        return torch.as_tensor(self.norm(x * self.mask))


class Causal(Masked, init=False):
    mask: Tensor


class Closed(Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(2))


class Opened(Closed, OpenModule):
    def forward(self, x: Tensor) -> Tensor:
        return x * self.scale + len(self.given)


class Declared(OpenModule):
    width: int


masked = Masked(3)
assert_type(masked(torch.ones(3)), Tensor)
print(masked.mask.shape)
masked.anything = torch.ones(2)
nn.Sequential(masked, Declared(2))

assert_type(Causal(3).mask, Tensor)
assert_type(Opened()(torch.ones(2)), Tensor)

masked(1)  # E
print(Closed().given)  # E
Masked()  # E
Declared("2")  # E
Declared(wdith=2)  # E

registry: dict[str, type[Module]] = {"masked": Masked, "declared": Declared}
made: Module = registry["masked"](3)
registry["declared"](width=2, device="cpu")
