"""To and from other libraries."""

from dataclasses import dataclass
from typing import Any, NamedTuple, assert_type

import numpy as np
import torch
from tensorclass_declared import Batch, Point
from tensordict import TensorDict
from torch import Tensor

from qten_gen.runtime.tensorclass.methods.conversion import Rows

x = torch.ones(2)
batch = Batch(x, Point(x, x, batch_size=2), batch_size=2)
made = TensorDict({}, [2])


@dataclass
class Record:
    x: Tensor


class Pair(NamedTuple):
    x: Tensor


assert_type(batch.to_tensordict(), TensorDict)
assert_type(batch.to_tensordict(retain_none=False), TensorDict)
assert_type(Batch.from_tensordict(made), Batch)
assert_type(Point.from_tensordict(made, {"weight": x}, safe=False), Point)
Batch.from_tensordict({})  # E
Batch.from_tensordict(x)  # E
Batch.from_tensordict(made, 3)  # E


assert_type(batch.numpy(force=True), dict[str, Any])
assert_type(Batch.from_numpy({"x": np.zeros(3)}, batch_size=3), Batch)
batch.numpy(True)  # E
assert_type(batch.tolist(), Rows)
batch.tolist(True)  # E
Batch.from_numpy(3)  # E

assert_type(Batch.from_dataclass(Record(x), auto_batch_size=True), Batch)
assert_type(Batch.from_dataclass(batch, batch_size=2, device="cpu"), Batch)
assert_type(Batch.from_namedtuple(Pair(x)), Batch)
Batch.from_dataclass(3)  # E
Batch.from_namedtuple(3)  # E

assert_type(batch.broadcast(0), Batch)
assert_type(batch.all_gather(), list[Batch])
assert_type(batch.recv(0), Batch)
batch.send(1, tag=3)
batch.broadcast()  # E

assert_type(batch.share_memory_(), Batch)
assert_type(batch.pack(shared=False), Batch)
assert_type(batch.is_shared(), bool)
