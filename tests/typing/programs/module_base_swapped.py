"""A plain nn.Module whose base was changed to Module, and nothing else."""

from typing import assert_type

import torch
from torch import Tensor, nn

from qten_gen import Module


class Config:
    width: int


class Owner(Module):
    """Has names of its own that Module has too: `device`, `dtype` and `config` are legal, methods of another kind are not."""

    _keys_to_ignore = ("a",)
    rate: float = 0.1

    def __init__(self, options: Config) -> None:
        super().__init__()
        self.options = options
        self.config = options
        self.table: Tensor
        self.register_buffer("table", torch.ones(2))

    @property
    def device(self) -> torch.device:
        return self.table.device

    @property
    def dtype(self) -> torch.dtype:
        return self.table.dtype

    def export(self, path: str, *, opset: int) -> bytes:  # E
        return path.encode() * opset

    def forward(self, x: Tensor) -> Tensor:
        return x * self.table


owner = Owner(Config())
assert_type(owner.options, Config)
assert_type(owner.options.width, int)
assert_type(owner.device, torch.device)
assert_type(owner.dtype, torch.dtype)
assert_type(owner.table, Tensor)
assert_type(owner(torch.ones(2)), Tensor)
assert_type(owner.freeze(), Owner)
assert_type(Owner.rate, float)
owner.device = torch.device("cpu")  # E
print(owner.tabel)  # E
print(owner.options.widht)  # E
owner("x")  # E


class Mine(nn.Linear, Module):
    def __init__(self, rows: int) -> None:
        super().__init__(rows, rows)


assert_type(Mine(3).in_features, int)
Mine("3")  # E
