"""Locks, names of dimensions, what an object says about itself, and its gradients."""

from typing import Any, assert_type

import torch
from tensorclass_declared import Batch, Labelled, Point

x = torch.ones(2)
batch = Batch(x, Point(x, x, batch_size=2), batch_size=2)

assert_type(batch.lock_(), Batch)
assert_type(Labelled(x, Point(x)).unlock_(), Labelled)
assert_type(batch.is_locked, bool)
with batch.unlock_() as unlocked:
    assert_type(unlocked, Batch)
batch.is_locked = True  # E
batch.lock()  # E

assert_type(batch.transpose("time", -1), Batch)
assert_type(batch.permute("row", "time"), Batch)
assert_type(batch.permute(["row", 0]), Batch)
assert_type(batch.unbind("time"), tuple[Batch, ...])
assert_type(Batch.cat([batch], dim="time"), Batch)
batch.squeeze(1.5)  # E
batch.unsqueeze("time")  # E

assert_type(batch.shape, torch.Size)
assert_type(batch.ndim, int)
assert_type(batch.batch_dims, int)
assert_type(batch.numel(), int)
assert_type(batch.record_stream(torch.cuda.current_stream()), Batch)
batch.record_stream("stream")  # E
assert_type(batch.auto_batch_size_(1).clear_device_(), Batch)
batch.shape = (2,)  # E
batch.ndim()  # E
batch.size()  # E

assert_type(batch.grad, Batch | None)
assert_type(batch.data, Any)  # a field may be called so
assert_type(batch.requires_grad, bool)
assert_type(batch.detach_().zero_grad(), Batch)
print(batch.grad.tokens)  # E
batch.requires_grad = True  # E

assert_type(batch.copy(), Batch)
assert_type(batch.named_apply(lambda name, tensor: tensor, nested_keys=True), Batch)
batch.named_apply(lambda tensor: tensor)  # E
