"""A declared module passes wherever an nn.Module does."""

import copy
from collections.abc import Iterator
from typing import assert_type

import torch
from module_declared import Attention, Classic, Cross
from torch import Tensor, nn

m = Attention(4)
torch.optim.SGD(m.parameters(), lr=0.1)
nn.Sequential(m, Classic(3))
nn.ModuleList([m, Cross(4)])
torch.compile(m)
torch.save(m.state_dict(), "file")
assert_type(m.parameters(), Iterator[nn.Parameter])
assert_type(m.to("cuda"), Attention)
assert_type(m.half().eval().train(), Attention)
assert_type(copy.deepcopy(m), Attention)
m.load_state_dict(Cross(4).state_dict())
m.register_forward_hook(lambda module, args, out: None)


def count(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


count(m)
compiled = torch.compile(m)
result: Tensor = compiled(torch.ones(2))
