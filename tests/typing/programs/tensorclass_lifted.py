"""`lifted` gives functions of torch the types that they have for objects, and DataLoaders take objects."""

from typing import Any, assert_type

import torch
from tensorclass_declared import Batch, Point
from torch.nn import functional
from torch.utils.data import DataLoader, Subset, random_split

from qten_gen import lifted

x = torch.ones(2)
batch = Batch(x, Point(x, x, batch_size=2), batch_size=2)

assert_type(lifted(torch.hypot)(batch, x), Batch)
assert_type(lifted(torch.hypot)(x, batch), Batch)
assert_type(lifted(torch.hypot)(batch, other=x), Batch)  # E
assert_type(lifted(functional.hardtanh)(batch, 1.5, max_val=3.5), Batch)
assert_type(lifted(torch.exp)(batch), Batch)
assert_type(lifted(torch.sub)(batch, batch, alpha=2), Batch)
assert_type(lifted(torch.clamp)(batch, 0, batch), Batch)
assert_type(lifted(torch.sum)(batch), Batch)
assert_type(lifted(torch.mean)(batch, (0, 1), keepdim=True), Batch)
assert_type(lifted(torch.std)(batch, 0, correction=0), Batch)
assert_type(lifted(torch.prod)(batch, 0, dtype=torch.float64), Batch)
assert_type(lifted(torch.max)(batch), Batch)
assert_type(lifted(torch.max)(batch, 0).indices, Batch)
assert_type(lifted(torch.cumsum)(batch, 0), Batch)
assert_type(lifted(torch.cummax)(batch, dim=0), tuple[Batch, Batch])
assert_type(lifted(torch.index_select)(batch, 1, x), Batch)
assert_type(lifted(torch.equal)(batch, batch), bool)
assert_type(lifted(torch.stack)([batch, batch], dim=1), Batch)
assert_type(lifted(torch.autograd.grad)(x, batch), tuple[Batch, ...])

assert_type(DataLoader(batch, batch_size=3), DataLoader[Any])
assert_type(random_split(batch, [1, 1]), list[Subset[Any]])
assert_type(batch[0], Batch)
loader: DataLoader[Batch] = DataLoader(batch)

lifted(functional.hardtanh)(batch, "x")  # E
lifted(functional.hardtanh)(batch, maximum=1.0)  # E
lifted(torch.stack)(batch)  # E
lifted(torch.sum)(batch, "time")  # E
lifted("hypot")  # E
