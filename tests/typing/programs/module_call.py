"""`module(x)` has the signature of forward."""

from typing import Any, assert_type

import torch
from module_declared import Attention, Classic, Cross
from torch import Tensor

from qten_gen import TensorClass


class Rows(TensorClass):
    rows: Tensor


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
Attention(4)(Rows(x))  # E
assert_type(Attention(4).invoke(Rows(x)), Any)
for _ in range(2):
    x = x - Attention(4)(x, offset=1)  # E
