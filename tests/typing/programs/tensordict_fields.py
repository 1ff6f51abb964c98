"""Fields that hold a TensorDict, and objects as TensorDicts."""

from typing import assert_type

import torch
from kinds.tensordicts_qten import Collected
from tensorclass_declared import Batch, Point
from tensordict import TensorDict
from torch import Tensor

from qten_gen import TensorClass


class Declared(TensorClass):
    x: Tensor
    td: TensorDict


x = torch.ones(2)
td = TensorDict({}, [2])
collected = Collected(x, td, batch_size=2)
declared = Declared(x, td, batch_size=2)

# A base of TensorDict is unknown to pyright, so that it takes every attribute of this type for a descriptor.
assert_type(declared.td, TensorDict)  # E pyright
assert_type(collected.to_tensordict(), TensorDict)
assert_type(Batch(x, Point(x)).to_tensordict(), TensorDict)
assert_type(Collected.from_tensordict(td).x, Tensor)
declared.td = td
declared.td = x  # E mypy
Declared(x, {"a": x})  # E mypy
Collected.from_dict({"x": x, "td": {"a": x}})
