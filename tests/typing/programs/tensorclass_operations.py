"""Operations keep the class."""

from collections.abc import Iterator
from typing import assert_type

import torch
from tensorclass_declared import Batch, Labelled, Point
from torch import Tensor

x = torch.ones(2)
batch = Batch(x, Point(x, x, batch_size=2), batch_size=2)
labelled = Labelled(x, Point(x, x, batch_size=2), batch_size=2)

assert_type(batch[0], Batch)
assert_type(batch[1:3], Batch)
assert_type(batch[x > 0], Batch)
assert_type(batch[[0, 1]], Batch)
assert_type(batch[[True, False]], Batch)
assert_type(batch[range(2)], Batch)
assert_type(batch[..., None, 0, :, x], Batch)
assert_type(iter(batch), Iterator[Batch])
batch[0] = batch[1]
batch[:1] = 0
batch[None] = x
batch["tokens"]  # E
batch[1.5]  # E
batch[0] = "s"  # E
batch[0] = Point(x)  # E

assert_type(batch.view(torch.Size([2, 1])), Batch)
assert_type(labelled.flatten(), Labelled)
assert_type(Labelled.cat([labelled], dim=1), Labelled)
Labelled.stack([batch])  # E

assert_type(batch.to("cuda"), Batch)
assert_type(batch.to(0, torch.float16, True), Batch)
assert_type(batch.to(torch.float64, non_blocking=True), Batch)
assert_type(batch.to(x), Batch)
assert_type(batch.to(labelled), Batch)
assert_type(batch.to(device="cpu", dtype=torch.float64), Batch)
assert_type(labelled.cpu().cuda().half().float().double().bfloat16(), Labelled)
assert_type(batch.clone().detach().contiguous().pin_memory().requires_grad_(False), Batch)
assert_type(batch.apply(torch.square), Batch)
assert_type(batch.apply(lambda tensor: tensor.sum(0), batch_size=()), Batch)
batch.to(1.5)  # E
batch.apply(lambda tensor: "s")  # E
assert_type(batch.apply(torch.add, batch), Batch)
assert_type(batch.apply(lambda one, two: one + two, batch, batch_size=()), Batch)
assert_type(batch.apply(torch.where, batch, batch), Batch)
assert_type(batch.named_apply(lambda name, one, two: one + two, batch), Batch)
batch.apply(lambda one: one, batch)  # E
batch.apply(torch.add, 3)  # E

assert_type(batch - 1, Batch)
assert_type(2.5 * batch, Batch)
assert_type(abs(labelled), Labelled)
assert_type(batch == "s", bool)
assert_type((batch > 3) & (batch < 5), Batch)
batch + Point(x)  # E


def lengths(items: list[Batch]) -> list[Tensor]:
    return [item.lengths for item in items]
