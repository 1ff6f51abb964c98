"""Frequencies have to be float32; a cast of the model rounds them, and every position is a little wrong (transformers#46198)."""

import torch
from torch import Tensor, nn

from qten_gen import Module, buffer

PLAIN = "torch.bfloat16"
OURS = "torch.float32"


class Rotary(Module):
    frequencies: Tensor = buffer(4, initializer=nn.init.ones_, dtype=torch.float32, keep_dtype=True)


def plain() -> str:
    module = nn.Module()
    module.register_buffer("frequencies", torch.ones(4, dtype=torch.float32))
    return str(module.to(torch.bfloat16).get_buffer("frequencies").dtype)


def ours() -> str:
    return str(Rotary().to(torch.bfloat16).frequencies.dtype)
