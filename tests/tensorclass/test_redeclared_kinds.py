"""A class whose fields are all plain tensors, below one whose fields were of other kinds."""

import torch
from torch import Tensor

from qten_gen import TensorClass


class Parent(TensorClass):
    """Has a field that may be None and one that is a Python value."""

    x: Tensor
    mask: Tensor | None
    kind: str


class Child(Parent):
    """Says that all are tensors, and adds one."""

    mask: Tensor  # pyright: ignore[reportIncompatibleVariableOverride] # narrower, as a class may declare it
    kind: Tensor  # type: ignore[assignment]
    y: Tensor


class Nothing(TensorClass):
    """Has no field."""


class Something(Nothing):
    """Has one."""

    x: Tensor


def child() -> Child:
    return Child(torch.rand(2), torch.rand(2), torch.rand(2), torch.rand(2), batch_size=2)


def test_operations_reach_the_fields_of_the_child() -> None:
    one = child()
    stacked = Child.stack([one, one])
    assert torch.equal(stacked[1].y, one.y)
    assert torch.equal(one[1:].kind, one.kind[1:])
    assert torch.equal(Child.cat([*one.split(1)]).y, one.y)
    one[0] = one[1]
    assert one.kind[0] == one.kind[1]
    assert len(one.items()) == 4


def test_what_was_a_python_value_is_no_longer_compared() -> None:
    one, other = child(), child()
    assert torch.equal((one + other).kind, one.kind + other.kind)


def test_a_class_below_one_without_fields_has_its_own() -> None:
    one = Something(torch.rand(2), batch_size=2)
    assert torch.equal(Something.stack([one, one])[0].x, one.x)
    assert [part.x.item() for part in one.split(1)] == one.x.tolist()
