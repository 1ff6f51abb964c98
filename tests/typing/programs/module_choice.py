"""A child whose class is chosen has the type of its annotation, however the options are written."""

from functools import partial
from typing import assert_type

from torch import nn

from qten_gen import Module, choice, submodule


def grouped(channels: int) -> nn.GroupNorm:
    return nn.GroupNorm(4, channels)


class Block(Module):
    norm: str = "batch"
    classes: nn.BatchNorm2d | nn.InstanceNorm2d = submodule(
        choice("norm", {"batch": nn.BatchNorm2d, "group": nn.InstanceNorm2d}), 8
    )
    function: nn.BatchNorm2d | nn.GroupNorm = submodule(choice("norm", {"batch": nn.BatchNorm2d, "group": grouped}), 8)
    called: nn.BatchNorm2d | nn.GroupNorm = submodule(
        choice("norm", {"batch": nn.BatchNorm2d, "group": lambda channels: nn.GroupNorm(4, channels)}), 8
    )
    part: nn.Module = submodule(choice("norm", {"batch": nn.BatchNorm2d, "group": partial(nn.GroupNorm, 4)}), 8)
    width: nn.Linear = submodule(nn.Linear, 8, choice("norm", {"batch": 8, "group": 16}))


block = Block("group")
assert_type(block.classes, nn.BatchNorm2d | nn.InstanceNorm2d)
assert_type(block.function, nn.BatchNorm2d | nn.GroupNorm)
assert_type(block.width, nn.Linear)
