"""What checkers know that a frozen class refuses is what it refuses."""

from __future__ import annotations

import ast
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from qten_gen import TensorClass

STUB = Path(__file__).parents[2] / "stubs" / "qten_gen_typing" / "frozen.pyi"


class Fixed(TensorClass, frozen=True):
    x: Tensor


def fixed() -> Fixed:
    return Fixed(torch.ones(2), batch_size=[2])


ARGUMENTS: tuple[tuple[Any, ...], ...] = (
    (),
    (1,),
    ("a",),
    (0, 1),
    (fixed(),),
    (fixed(), 0),
    (fixed(), fixed()),
    (torch.ones(2) > 0, 1.0),
    ({"x": torch.ones(2)},),
    ({"x": torch.ones(2)}, 0),
)
"""What one of the methods takes or another."""

REFUSED = [
    node.name
    for node in ast.walk(ast.parse(STUB.read_bytes()))
    if isinstance(node, ast.FunctionDef) and not node.decorator_list
]


def is_refused(name: str) -> bool:
    """Whether a method raises FrozenInstanceError for arguments that fit, and succeeds for none."""
    raised: set[type[BaseException]] = set()
    for arguments in ARGUMENTS:
        try:
            getattr(fixed(), name)(*arguments)
            return False
        except (
            FrozenInstanceError,
            TypeError,
            ValueError,
            RuntimeError,
            AttributeError,
            KeyError,
            IndexError,
        ) as error:
            raised.add(type(error))
    return FrozenInstanceError in raised


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_stub_refuses_is_refused(name: str) -> None:
    assert is_refused(name)


def test_every_method_that_changes_a_frozen_object_is_in_the_stub() -> None:
    changing = {name for name in dir(Fixed) if name.endswith("_") and not name.startswith("_") and is_refused(name)}
    assert changing - set(REFUSED) - {"set_", "set_at_"} == set()


@pytest.mark.parametrize("name", ["batch_size", "names"])
def test_the_properties_of_a_frozen_object_cannot_be_set(name: str) -> None:
    with pytest.raises(FrozenInstanceError):
        setattr(fixed(), name, ())
