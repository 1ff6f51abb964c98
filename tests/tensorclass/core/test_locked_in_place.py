"""Operators that change what a field holds, such as `+=`, with a lock and in frozen objects."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from qten_gen import TensorClass

from ..declared import Flat


class Kinds(TensorClass):
    """One field of each kind that an operator can change in place."""

    x: Tensor
    weight: float
    inner: Flat
    columns: list[Tensor]
    tags: list[str]
    mask: Tensor | None = None


def kinds(lock: bool) -> Kinds:
    inner = Flat(torch.zeros(4, 3), torch.zeros(4), batch_size=4)
    return Kinds(torch.zeros(4), 1.5, inner, [torch.zeros(4)], ["a"], torch.zeros(4), batch_size=4, lock=lock)


@pytest.mark.parametrize(
    "statement",
    [
        "value.x += 1",
        "value.weight *= 2",
        "value.inner += 1",
        "value.inner.y -= 1",
        "value.mask += 1",
        "value.x = value.x",
        "value.set('x', value.x.add_(1))",
        "value.update(inner={'y': value.inner.y.add_(1)})",
    ],
)
def test_an_operator_in_place_does_with_a_lock_what_it_does_without(statement: str) -> None:
    free, locked = kinds(lock=False), kinds(lock=True)
    before = [id(locked.x), id(locked.inner), id(locked.inner.y)]
    exec(statement, {"value": free})
    exec(statement, {"value": locked})
    assert (free == locked).all()
    assert [id(locked.x), id(locked.inner), id(locked.inner.y)] == before
    assert locked.is_locked


@pytest.mark.parametrize(
    "statement", ["value.columns += value.columns", "value.tags += ['b']", "value.x = value.x + 1"]
)
def test_a_locked_object_refuses_a_list_that_has_grown_and_another_tensor(statement: str) -> None:
    with pytest.raises(RuntimeError, match=r"^cannot assign to Kinds\.\w+: it is locked"):
        exec(statement, {"value": kinds(lock=True)})
