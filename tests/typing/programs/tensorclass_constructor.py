"""The constructor takes the fields in order, then batch_size, device, names and lock by keyword."""

from typing import assert_type

import torch
from tensorclass_declared import Batch, Fixed, FixedChild, Labelled, Pair, Point
from torch import Tensor

x = torch.ones(2)
point = Point(x, x)

assert_type(Point(x, x, batch_size=2), Point)
assert_type(Batch(x, point, None, "test", tags=[], batch_size=[2], device="cpu"), Batch)
assert_type(Batch(tokens=x, point=point, batch_size=(2,), device=torch.device("cpu")), Batch)
assert_type(Labelled(x, point, labels=x, batch_size=torch.Size([2])), Labelled)
assert_type(FixedChild(x, "name", x, batch_size=None), FixedChild)
assert_type(Point(x, names=["time", None], lock=True), Point)
assert_type(Point(x, names=None), Point)
assert_type(Pair(x, b"s"), Pair[bytes])
assert_type(Pair(x, "s").extra, str)
assert_type(Pair[str](x, "s").left, Tensor)

Point()  # E
Point("x")  # E
Point(x, x, x)  # E
Point(x, wieght=x)  # E
Point(x, batch_size="2")  # E
Point(x, device=1.5)  # E
Point(x, names=[1])  # E
Point(x, lock="yes")  # E
Batch(x)  # E
Batch(x, x)  # E
Batch(x, point, source=3)  # E
Batch(x, point, None, "test", [])  # E
Fixed(x, nam="")  # E
Pair[str](x, x)  # E
