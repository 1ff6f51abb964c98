"""`module(x)` has the signature of forward."""

from typing import assert_type

import torch
from module_declared import Attention, Classic, Cross
from torch import Tensor

x = torch.ones(2)
assert_type(Attention(4)(x), Tensor)
assert_type(Attention(4)(x, factor=2), Tensor)
assert_type(Cross(4)(x, offset=1), Tensor)
assert_type(Classic(4)(x), tuple[Tensor, int])

Attention(4)()  # E
Attention(4)(1)  # E
Attention(4)(x, x)  # E
Attention(4)(x, factor="2")  # E
Attention(4)(x, offset=1)  # E
Attention(4)(y=x)  # E
