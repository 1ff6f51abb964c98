"""Twelve edits to a decoder, and what each changes in its lock."""

from __future__ import annotations

from typing import NamedTuple

DECODER = """
import torch
from torch import Tensor, nn

from qten_gen import Module, ModuleList, buffer, param, submodule


class Block(Module):
    width: int
    heads: int
    qkv: nn.Linear = submodule(nn.Linear, "width", "3*width")
    norm: nn.LayerNorm = submodule(nn.LayerNorm, "width")
    scale: Tensor = buffer("heads", persistent=False, initializer=nn.init.ones_)


class Decoder(Module):
    width: int = 8
    heads: int = 2
    depth: int = 2
    embedding: nn.Parameter = param(10, "width", initializer=nn.init.normal_)
    position: nn.Parameter = param(10, "width", initializer=nn.init.normal_)
    blocks: ModuleList[Block] = submodule(Block, "width", "heads", repeat="depth")
    head: nn.Parameter = param(tie="embedding")
"""
"""A decoder whose head is tied to its embedding."""


class Edit(NamedTuple):
    """An edit of the decoder's text."""

    old: str
    new: str
    found: list[str]
    """What the lock says, layers folded."""
    needs_version: bool = True


HEAD = 'head: nn.Parameter = param(tie="embedding")'
NORM = 'norm: nn.LayerNorm = submodule(nn.LayerNorm, "width")'
EDITS = {
    "a child is renamed": Edit(
        "qkv: nn.Linear",
        "in_proj: nn.Linear",
        [
            "renamed     blocks.{0-1}.qkv.weight -> blocks.{0-1}.in_proj.weight",
            "renamed     blocks.{0-1}.qkv.bias -> blocks.{0-1}.in_proj.bias",
        ],
    ),
    "a parameter gets another shape": Edit(
        'position: nn.Parameter = param(10, "width"',
        'position: nn.Parameter = param(12, "width"',
        ["reshaped    position: [10, 8] -> [12, 8]"],
    ),
    "a tie is cut": Edit(
        HEAD,
        'head: nn.Parameter = param(10, "width", initializer=nn.init.normal_)',
        ["untied      head: embedding"],
    ),
    "a tie is made": Edit(
        'position: nn.Parameter = param(10, "width", initializer=nn.init.normal_)',
        'position: nn.Parameter = param(tie="embedding")',
        ["tied        position: embedding"],
    ),
    "a tie leads elsewhere": Edit(
        HEAD, HEAD.replace("embedding", "position"), ["tied        head: embedding -> position"]
    ),
    "a dtype changes": Edit(
        'position: nn.Parameter = param(10, "width",',
        'position: nn.Parameter = param(10, "width", dtype=torch.float16,',
        ["recast      position: float32 -> float16"],
    ),
    "a buffer is saved": Edit("persistent=False, ", "", ["persistence blocks.{0-1}.scale: unsaved -> buffer"]),
    "a child is replaced": Edit(
        NORM,
        'norm: nn.BatchNorm1d = submodule(nn.BatchNorm1d, "width")',
        [
            "respelled   blocks.{0-1}.norm.weight: LayerNorm(width) -> BatchNorm1d(width)",
            "respelled   blocks.{0-1}.norm.bias: LayerNorm(width) -> BatchNorm1d(width)",
            "added       blocks.{0-1}.norm.running_mean: float32 [8] buffer",
            "added       blocks.{0-1}.norm.running_var: float32 [8] buffer",
            "added       blocks.{0-1}.norm.num_batches_tracked: int64 [] buffer",
        ],
    ),
    "a list gets longer": Edit(
        "depth: int = 2",
        "depth: int = 4",
        [
            "added       blocks.{2-3}.scale: float32 [2] unsaved",
            "added       blocks.{2-3}.qkv.weight: float32 [24, 8] param",
            "added       blocks.{2-3}.qkv.bias: float32 [24] param",
            "added       blocks.{2-3}.norm.weight: float32 [8] param",
            "added       blocks.{2-3}.norm.bias: float32 [8] param",
        ],
    ),
    "a parameter is removed": Edit(
        '    position: nn.Parameter = param(10, "width", initializer=nn.init.normal_)\n',
        "",
        ["removed     position: float32 [10, 8] param"],
    ),
    "a parameter becomes a buffer": Edit(
        'position: nn.Parameter = param(10, "width", initializer=nn.init.normal_)',
        'position: Tensor = buffer(10, "width", initializer=nn.init.normal_)',
        ["kind        position: param -> buffer"],
    ),
    "a field that no checkpoint holds is added": Edit(
        NORM,
        f'{NORM}\n    shift: Tensor = buffer("heads", persistent=False, initializer=nn.init.zeros_)',
        ["added       blocks.{0-1}.shift: float32 [2] unsaved"],
        needs_version=False,
    ),
}
