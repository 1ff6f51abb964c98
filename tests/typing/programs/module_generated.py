"""The generated stub adds the calls that handlers allow."""

from typing import assert_type

import torch
from shop import model
from shop.model_qten import Attention, Batch, Point
from torch import Tensor, nn

x = torch.ones(2)
attention = Attention(4, heads=2, device="cpu", dtype=torch.float64)
batch = Batch(x, Point(x, x, batch_size=2), batch_size=2)

assert_type(attention(x), Tensor)
assert_type(attention(x=x), Tensor)
assert_type(attention(batch), Tensor)
assert_type(attention.qkv, nn.Parameter)
assert_type(attention.causal, Tensor)
assert_type(attention.get_submodule("norm"), nn.LayerNorm)
declared: model.Attention = attention
nn.Sequential(attention)
torch.optim.SGD(attention.parameters(), lr=0.1)
torch.compile(attention)

attention(1)  # E
attention()  # E
attention(y=x)  # E
print(attention.typo)  # E
attention.new = 1  # E
attention.causal = x  # E
Attention()  # E
Attention(4, qkv=x)  # E
