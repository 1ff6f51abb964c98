"""What a frozen class refuses at run time, checkers find."""

from typing import assert_type

import torch
from kinds.tensorclasses_qten import Frozen

frozen = Frozen(torch.ones(2))

assert_type(frozen.batch_size, torch.Size)
assert_type(frozen[0], Frozen)
assert_type(frozen.to("cpu"), Frozen)
assert_type(frozen + 1, Frozen)
assert_type(frozen.abs(), Frozen)
assert_type(frozen.lock_(), Frozen)


def change(frozen: Frozen) -> None:
    frozen.batch_size = torch.Size([2])  # E
    frozen.names = ("row",)  # E
    frozen[0] = frozen  # E


def zero(frozen: Frozen) -> None:
    frozen.zero_()  # E


def add(frozen: Frozen) -> None:
    frozen.add_(1)  # E


def copy(frozen: Frozen) -> None:
    frozen.copy_(frozen)  # E


def load(frozen: Frozen) -> None:
    frozen.requires_grad_()  # E


def augment(frozen: Frozen) -> None:
    frozen += 1  # E mypy
