"""Fields of a frozen class cannot be assigned, where a keyword of the class statement says that it is frozen."""

from typing import assert_type

import torch
from fleet.parts_qten import Fixed
from kinds.tensorclasses_qten import Frozen

frozen = Frozen(torch.ones(2))

assert_type(frozen.batch_size, torch.Size)
assert_type(frozen[0], Frozen)
assert_type(frozen.to("cpu"), Frozen)
assert_type(frozen + 1, Frozen)
assert_type(frozen.abs(), Frozen)
assert_type(frozen.lock_(), Frozen)


def assigned(fixed: Fixed) -> None:
    fixed.wheel = fixed.wheel  # E
