"""A child of a Module that writes its constructor keeps it with `init=False`: to checkers and when it runs."""

from typing import assert_type

from kinds import modules
from torch import nn

from qten_gen import Module


class Local(modules.Written, init=False):
    def doubled(self) -> int:
        return 2 * self.width


assert_type(Local(3).bias, nn.Parameter)
Local("3")  # E
Local(bias=nn.Parameter())  # E

assert_type(modules.Kept(width=3).note, str)
modules.Kept("3")  # E
assert_type(modules.Kept(3).width, int)
modules.Kept(3, note="x")  # E


class Unknown(Module, inti=False):  # E pyright
    pass
