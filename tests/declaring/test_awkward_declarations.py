"""Field names and defaults that could be taken for something of the house."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from qten_gen import TensorClass


class Names(TensorClass):
    """Fields called like private attributes of a class or its metaclass, with and without underscores behind."""

    zip: Tensor
    zip_: Tensor
    zip__: Tensor
    complete: Tensor
    abc_impl: Tensor


class Endless(TensorClass, nocast=True):
    """Defaults whose text is no literal of Python."""

    limit: float = float("inf")
    start: float = -float("inf")
    rate: float = float("nan")


def test_every_field_has_a_place_of_its_own() -> None:
    fields = Names._fields
    made = Names(*(torch.full((2,), float(position)) for position, _ in enumerate(fields)), batch_size=2)
    assert {name: getattr(made, name)[0].item() for name in fields} == {
        name: position for position, name in enumerate(fields)
    }


def test_a_default_without_literal_is_kept() -> None:
    made = Endless()
    assert (made.limit, made.start) == (math.inf, -math.inf)
    assert math.isnan(made.rate)
