"""Locks and names of dimensions."""

from typing import assert_type

import torch
from tensorclass_declared import Batch, Labelled, Point

x = torch.ones(2)
batch = Batch(x, Point(x))

assert_type(batch.lock_(), Batch)
assert_type(Labelled(x, Point(x)).unlock_(), Labelled)
assert_type(batch.is_locked, bool)
with batch.unlock_() as unlocked:
    assert_type(unlocked, Batch)
batch.is_locked = True  # E
batch.lock()  # E

assert_type(batch.refine_names("time", ..., None), Batch)
assert_type(batch.rename("time", None), Batch)
assert_type(batch.rename(time="step"), Batch)
assert_type(batch.rename_("time"), Batch)
batch.refine_names(1)  # E
batch.rename(1)  # E
assert_type(batch.transpose("time", -1), Batch)
assert_type(batch.permute("row", "time"), Batch)
assert_type(batch.permute(["row", 0]), Batch)
assert_type(batch.unbind("time"), tuple[Batch, ...])
assert_type(Batch.cat([batch], dim="time"), Batch)
batch.squeeze(1.5)  # E
batch.unsqueeze("time")  # E
batch.rename(time=None)  # E
