"""Declared attributes have their types; no others exist."""

from typing import Any, assert_type

import torch
from module_declared import Attention, Classic, Cross
from torch import Tensor, nn

from qten_gen import Device

m = Attention(4)
assert_type(m.dim, int)
assert_type(m.tags, list[str])
assert_type(m.qkv, nn.Parameter)
assert_type(m.scale, Tensor)
assert_type(m.norm, nn.LayerNorm)
assert_type(m.norm.eps, float)
assert_type(m.causal, Tensor)
assert_type(m.ones, Tensor)
assert_type(Cross(4).qkv, nn.Parameter)
assert_type(Classic(4).weight, nn.Parameter)
assert_type(m.training, bool)
m.reset_parameters()
assert_type(m.device, Device | Any)

m.heads = 3
m.qkv = nn.Parameter(torch.ones(2))
m.scale = torch.ones(2)
m.norm = nn.LayerNorm(3)

print(m.typo)  # E
print(m.typo.shape)  # E
print(m.norms)  # E
m.device = "cpu"  # E
print(m.dtype)  # E
print(Classic(4).wieght)  # E
m.new = 1  # E
m.new_weight = nn.Parameter(torch.ones(2))  # E
m.dim = "4"  # E
m.qkv = torch.ones(2)  # E
m.norm = nn.Linear(2, 2)  # E
m.causal = torch.ones(2)  # E
m.ones = torch.ones(2)  # E
