"""The primitives of the base class are those of generated classes."""

from __future__ import annotations

import inspect

from torch import Tensor

from qten_gen import TensorClass
from qten_gen.generate.render import render_class
from qten_gen.runtime.tensorclass.core.stored import Stored
from tests.tensorclass.declared import Batch


def test_generated_primitives_have_the_parameters_of_the_ground_class() -> None:
    (generated,) = (base for base in Batch.__mro__ if "_fingerprint" in vars(base))
    primitives = {name for name, value in vars(Stored).items() if inspect.isfunction(value)} & {*vars(generated)}
    assert "_map" in primitives
    primitives.remove("_fill")  # its parameters are the fields
    for name in primitives:
        found = inspect.signature(vars(generated)[name]).parameters
        assert [*found] == [*inspect.signature(vars(Stored)[name]).parameters], name


class Pair(TensorClass):
    tokens: Tensor
    labels: Tensor


def test_the_generated_class_of_two_tensors_is_short_enough_to_be_reviewed() -> None:
    text = render_class(Pair._declaration)
    start = text.index("class _Pair_(_rt.Stored):")
    assert len(text[start:].rstrip().splitlines()) <= 100
