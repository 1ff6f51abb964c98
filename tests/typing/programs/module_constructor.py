"""The constructor has the config fields, then device and dtype by keyword."""

import torch
from module_declared import Attention, Classic, Cross
from torch import nn

Attention(4)
Attention(4, 2)
Attention(dim=4, heads=2, tags=["a"])
Attention(4, device="cuda", dtype=torch.float16)
Attention(4, device=torch.device("meta"))
Attention(4, device=None, dtype=None)
Cross(4, 2, 3)
Cross(4, context=3, device="cpu")
Classic(3)

Attention()  # E
Attention("4")  # E
Attention(4, 2, ["a"])  # E
Attention(4, head=2)  # E
Attention(4, qkv=nn.Parameter(torch.ones(2)))  # E
Attention(4, scale=torch.ones(2))  # E
Attention(4, norm=nn.LayerNorm(4))  # E
Attention(4, causal=torch.ones(2))  # E
Attention(4, 2, "cuda")  # E
Attention(4, device=1.5)  # E
Attention(4, dtype="float32")  # E
Cross(4, 2, "3")  # E
Classic()  # E
Classic(3, device="cpu")  # E
