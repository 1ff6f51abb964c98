"""Unbatched fields: tensors of any shape that the batch does not carry."""

from __future__ import annotations

import re

import pytest
import torch
from torch import Tensor
from torch._subclasses import FakeTensorMode

from qten_gen import TensorClass, Unbatched


class Inner(TensorClass):
    """Holds a table too."""

    y: Tensor
    codes: Unbatched[Tensor]


class Lookup(TensorClass):
    """Tensors that the batch carries, and some that it does not."""

    ids: Tensor
    table: Unbatched[Tensor]
    bias: Unbatched[Tensor] | None = None
    inner: Inner | None = None
    scores: Tensor | None = None


class Only(TensorClass):
    """Nothing that the batch carries."""

    table: Unbatched[Tensor]


TABLE = torch.arange(20.0).reshape(10, 2)


def lookup(*batch_size: int) -> Lookup:
    """An object with a table in every field for one. The batch of 10 rows has as many items as the table."""
    inner = Inner(torch.rand(batch_size), torch.arange(3), batch_size=batch_size)
    return Lookup(torch.rand(*batch_size, 3), TABLE, torch.ones(()), inner, batch_size=batch_size)


def assert_passed_on(result: Lookup, value: Lookup) -> None:
    """What the batch does not carry is in `result` what it is in `value`, the same objects."""
    assert result.table is value.table
    assert result.bias is value.bias
    assert result.inner is not None
    assert value.inner is not None
    assert result.inner.codes is value.inner.codes


def test_objects_that_are_put_together_share_it() -> None:
    value, other = lookup(4), lookup(4)
    assert_passed_on(Lookup.stack([value, value]), value)
    assert_passed_on(Lookup.cat([value, value[:2]]), value)
    assert Lookup.stack([value, other.clone()]).table is value.table


def test_an_equal_table_may_hold_nan() -> None:
    value = Only(torch.tensor([1.0, float("nan")]))
    assert Only.stack([value, value.clone()]).table is value.table


@pytest.mark.parametrize(
    ("table", "difference"),
    [
        (TABLE + 1, f"shape {list(TABLE.shape)}, with different values"),
        (TABLE[:3], f"shape {list(TABLE.shape)} and a Tensor of dtype torch.float32 and shape {list(TABLE[:3].shape)}"),
        (TABLE.double(), f"and a Tensor of dtype torch.float64 and shape {list(TABLE.shape)}"),
        (TABLE.to("meta"), f"shape {list(TABLE.shape)}, on cpu and meta"),
    ],
    ids=["values", "shape", "dtype", "device"],
)
def test_objects_with_different_tables_are_not_put_together(table: Tensor, difference: str) -> None:
    value = Only(TABLE, batch_size=4)
    start = r"^Only\.table is the same for a whole batch, but differs between the objects: a Tensor of dtype "
    message = f"{start}.*{re.escape(difference)}$"
    for join in (Only.stack, Only.cat):
        with pytest.raises(ValueError, match=message):
            join([value, Only(table, batch_size=4)])


def test_one_is_none_in_all_objects_or_in_none() -> None:
    value = lookup(4)
    with pytest.raises(
        TypeError, match=r"^Lookup\.bias: expected a value in every object or in none, 1 of 2 are None$"
    ):
        Lookup.stack([value, value.replace(bias=None)])


def test_the_batch_size_can_be_set_without_regard_to_it() -> None:
    value = lookup(2, 5)
    value.batch_size = 2
    assert_passed_on(value, value)
    assert value.batch_size == (2,)


def test_torch_vmap_says_what_to_do() -> None:
    with pytest.raises(
        TypeError, match=r"^Lookup\.table is the same for a whole batch, .*; use batch\.vmap\(function\)"
    ):
        torch.vmap(lambda item: item.ids)(Lookup(torch.ones(10), TABLE, batch_size=10))


class Child(Lookup):
    """Says that the batch carries the table after all."""

    table: Tensor


def test_a_child_class_may_decide_otherwise() -> None:
    value = Child(torch.ones(10), TABLE, batch_size=10)
    assert torch.equal(value[0].table, TABLE[0])
    assert value[0].batch_size == ()
    with pytest.raises(ValueError, match=r"^Child\.table: expected a shape that starts with \[4\], got \[10, 2\]$"):
        Child(torch.ones(4), TABLE, batch_size=4)


class Tables(TensorClass):
    x: Tensor
    tables: Unbatched[dict[str, Tensor]]


def test_a_tensor_over_the_batch_applies_where_no_table_is_held() -> None:
    value = Tables(torch.ones(2, 3), {}, batch_size=2) * torch.tensor([1, 2])
    assert value.x.tolist() == [[1, 1, 1], [2, 2, 2]]


def test_tables_without_values_are_put_together_where_all_else_is_alike() -> None:
    with FakeTensorMode():
        first, second, other = (Only(torch.empty(size), batch_size=1) for size in (3, 3, 4))
        assert Only.stack([first, second]).table is first.table
        with pytest.raises(ValueError, match=r"^Only\.table is the same for a whole batch, but differs"):
            Only.stack([first, other])


def test_writing_items_leaves_it_alone() -> None:
    value, table = lookup(10), TABLE.clone()
    value[0] = 7.0
    value[1:3] = torch.ones(2)
    value[3] = value[4]
    assert value.ids[0].eq(7).all()
    assert torch.equal(value.table, table)
    with pytest.raises(ValueError, match=r"^Lookup\.table is the same for a whole batch, but differs"):
        value[0] = value[1].replace(table=TABLE + 1)


def test_a_tensor_over_the_batch_does_not_apply_to_it() -> None:
    weights = torch.rand(4)
    with pytest.raises(
        TypeError, match=r"^Lookup\.table is the same for a whole batch, so a Tensor over the batch size"
    ):
        lookup(4) * weights
