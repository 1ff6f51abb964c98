"""Fields have their types; nothing else can be read or written."""

from typing import assert_type

import torch
from tensorclass_declared import Batch, Fixed, FixedChild, Labelled, Point
from torch import Tensor

x = torch.ones(2)
batch = Batch(x, Point(x, x, batch_size=2), batch_size=2)

assert_type(batch.tokens, Tensor)
assert_type(batch.point, Point)
assert_type(batch.point.weight, Tensor)
assert_type(batch.mask, Tensor | None)
assert_type(batch.source, str)
assert_type(batch.tags, list[str])
assert_type(batch.batch_size, torch.Size)
assert_type(batch.device, torch.device | None)
assert_type(batch.names, tuple[str | None, ...])
assert_type(batch.requires_grad, bool)
assert_type(batch.lengths, Tensor)
assert_type(batch.first(), Batch)
assert_type(Labelled(x, Point(x, x), batch_size=2).first(), Labelled)
assert_type(Labelled(x, Point(x)).clone(), Labelled)
assert_type(len(batch), int)

batch.tokens = x
batch.mask = None
batch.point = Point(x)
batch.batch_size = 3
batch.batch_size = [3, 2]
batch.names = ["time", None]
batch.names = None
batch.point.weight = x

print(batch.tokns)  # E
print(batch.point.typo)  # E
print(batch.mask.shape)  # E
batch.tokens = "s"  # E
batch.tokens = None  # E
batch.point = x  # E
batch.tokns = x  # E
batch.source = 3  # E
batch.batch_size = "3"  # E
batch.device = "cpu"  # E
batch.names = [1, 2]  # E
batch.lock = True  # E
print(batch.lock)  # E
batch.squeze()  # E
Fixed(x).x = x  # E
FixedChild(x).x = x  # E
FixedChild(x).y = x  # E

batch.mask = x
assert_type(batch.mask, Tensor)
"""An attribute narrows when it is assigned."""
