"""Lazy stacks are typed by the class of their objects."""

from typing import Any, assert_type

import torch
from tensorclass_declared import Batch, Labelled, Point
from torch import Tensor

from qten_gen import LazyStack

x = torch.ones(2)
batch = Batch(x, Point(x, x, batch_size=2), batch_size=2)
lazy = Batch.lazy_stack([batch, batch])

assert_type(lazy, LazyStack[Batch])
assert_type(Labelled.lazy_stack([Labelled(x, Point(x))]), LazyStack[Labelled])
assert_type(Batch.maybe_dense_stack([batch]), Batch | LazyStack[Batch])
assert_type(lazy[0], Batch)
assert_type(lazy[1:], LazyStack[Batch])
assert_type([one.source for one in lazy], list[str])
assert_type(lazy.objects, tuple[Batch, ...])
assert_type(lazy.get("tokens"), Tensor)
assert_type(lazy.get(("point", "weight"), as_list=True), list[Tensor | Any])
assert_type(lazy.get("tokens", as_padded_tensor=True, padding_value=-1), Tensor)
assert_type(lazy.to("cuda"), LazyStack[Batch])
assert_type(lazy.dense(), Batch)

Batch.lazy_stack([Point(x)])  # E
Batch.lazy_stack(batch)  # E
print(lazy.tokens)  # E
lazy["tokens"]  # E
lazy.get("tokens", as_list=True, as_padded_tensor=True)  # E
lazy.objects = ()  # E
