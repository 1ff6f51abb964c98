"""A declared value becomes an exact one by `isinstance`, which is true for every object of the class."""

from typing import assert_type

import torch
from shop import model
from shop.model_qten import Attention, Batch
from torch import Tensor

x = torch.ones(2)


def exact(batch: model.Batch) -> Batch:
    assert isinstance(batch, Batch)
    return batch


def exact_or_none(attention: model.Attention | None) -> Attention | None:
    return attention if isinstance(attention, Attention) else None


declared = model.Batch(x, model.Point(x, x))
assert_type(exact(declared), Batch)
assert_type(exact(declared).get("tokens"), Tensor)
assert_type(exact_or_none(model.Attention(2)), Attention | None)


def wrong(batch: model.Batch) -> Batch:
    return batch  # E
