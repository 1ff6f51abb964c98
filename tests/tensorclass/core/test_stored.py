"""The primitives of the ground class are those of generated classes."""

from __future__ import annotations

import inspect

from qten_gen.runtime.tensorclass.core.stored import Stored
from tests.tensorclass.declared import Batch


def test_generated_primitives_have_the_parameters_of_the_ground_class() -> None:
    (generated,) = (base for base in Batch.__mro__ if "_fingerprint" in vars(base))
    primitives = {name for name, value in vars(Stored).items() if inspect.isfunction(value)} & {*vars(generated)}
    assert "_map" in primitives
    for name in primitives:
        found = inspect.signature(vars(generated)[name]).parameters
        assert [*found] == [*inspect.signature(vars(Stored)[name]).parameters], name
