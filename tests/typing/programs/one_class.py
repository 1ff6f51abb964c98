"""The name that the generated module has is the class of the declaration, so that no mixture of imports is an error."""

from typing import assert_type

import torch
from shop import model
from shop.model_qten import Batch, Point

x = torch.ones(2)
batch = Batch(x, Point(x, x, batch_size=2), batch_size=2)
assert_type(batch, model.Batch)
assert_type(batch.point, Point)
assert_type(model.Batch(x, model.Point(x)), Batch)


def mixed(batches: list[model.Batch], by_name: dict[str, Batch]) -> list[Batch]:
    batches.extend(by_name.values())
    return batches


batch.mask = x
assert_type(batch.mask, torch.Tensor)
"""An attribute narrows when it is assigned."""
mixed([batch, model.Batch(x, model.Point(x))], {"a": batch})
mixed([Point(x)], {})  # E
batch.point = x  # E
