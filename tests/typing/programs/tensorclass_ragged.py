"""Ragged fields: what is in their rows, and in those of an item."""

from typing import assert_type

import torch
from kinds.tensorclasses import Detections, Point
from torch import Tensor

from qten_gen import Ragged, TensorClass

x = torch.ones(2, 4)
point = Point(torch.ones(2), torch.ones(2), batch_size=2)

found = Detections(x, [x, x], [point, point], batch_size=2)
assert_type(found.boxes, Ragged[Tensor])
assert_type(found.boxes.rows, Tensor)
assert_type(found.boxes.lengths, Tensor)
assert_type(found.points, Ragged[Point])
assert_type(found.points.rows.weight, Tensor)
assert_type(found[0].points, Ragged[Point])
assert_type(found[0].points.rows.position, Tensor)
assert_type(found.points[1:].to("cpu").rows, Point)
assert_type(found.words, Ragged[Tensor] | None)
assert_type(found.parts, Ragged[Point] | None)
for item in found.points:
    assert_type(item, Ragged[Point])
Detections(x, x, point, batch_size=())
Detections(x, x, point)  # E
Detections(x, found.boxes, found.points, words=Ragged.of([x, x]), batch_size=2)
found.boxes = [x, x]
found.boxes = "rows"  # E
found.boxes.lengths = x  # E
print(found.points.rows.weigth)  # E
Detections(x, found.points, found.points)  # E
Detections(x, found.boxes, found.boxes)  # E

assert_type(found.points.rows.weight, Tensor)

assert_type(Ragged.of([x]), Ragged[Tensor])
assert_type(Ragged.of([point]), Ragged[Point])
assert_type(Ragged(point, [1, 1]).rows, Point)
assert_type(Ragged.from_padded(point, x), Ragged[Point])
assert_type(found.points.padded(), Point)
assert_type(found.boxes.padded(0.0, 9), Tensor)
assert_type(found.points.as_list(), list[Point])
assert_type(found.points.map_rows(lambda rows: rows.weight), Ragged[Tensor])
assert_type(found.points.keep_rows(x > 0), Ragged[Point])
assert_type(found.boxes.reduce("mean"), Tensor)
found.boxes.reduce("min")  # E
found.points.reduce("sum")  # E
Ragged.of(["a"])  # E


class Named(TensorClass):
    names: Ragged[str]  # E
