"""Writing into tensors in place, by key: against the same writes on plain tensors."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from qten_gen import PerItem, TensorClass

from ..declared import Batch, batch, flat, tensors


@pytest.mark.parametrize(
    ("key", "given", "error", "message"),
    [
        (
            "tokens",
            torch.zeros(4),
            ValueError,
            r"^Batch\.tokens: expected a shape of \[4, 3\] to write in place, got \[4\]$",
        ),
        ("tokens", "text", TypeError, r"^Batch\.tokens: expected a Tensor or a number, got str 'text'$"),
        ("source", "new", TypeError, r"^Batch\.source is not a tensor and cannot be written in place; use \.set$"),
        ("mask", 1, ValueError, r"^Batch\.mask is None, which cannot be written in place; use \.set$"),
        ("point", 1, TypeError, r"^Batch\.point: expected a mapping or a Point, got int 1$"),
        (("point", "z"), 1, KeyError, "Point has no field 'z'"),
    ],
)
def test_what_cannot_be_written_is_refused(key: Any, given: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        batch(4, full=False).set_(key, given)


def test_update_writes_into_several_tensors_or_none() -> None:
    value = batch(4)
    tokens, weight = value.tokens, value.point.weight
    value.update_({"tokens": 1, "point": {"weight": torch.zeros(4)}})
    assert (int(tokens.sum()), float(weight.sum())) == (12, 0)
    with pytest.raises(KeyError):
        value.update_({"tokens": 2, ("point", "z"): 2})
    assert int(tokens.sum()) == 12


def test_update_writes_nothing_where_a_later_value_does_not_fit() -> None:
    value = batch(4)
    before = {path: tensor.clone() for path, tensor in tensors(value).items()}
    with pytest.raises(ValueError, match=r"^Point\.weight: expected a shape of \[4\] to write in place, got \[5\]$"):
        value.update_({"tokens": 1, "point": {"position": 1, "weight": torch.zeros(5)}})
    with pytest.raises(TypeError, match=r"^Point\.weight: expected a Tensor or a number, got str 'x'$"):
        value.update_({"tokens": 1, ("point", "weight"): "x"})
    assert all(torch.equal(tensor, before[path]) for path, tensor in tensors(value).items())


def test_copy_writes_nothing_where_a_later_field_does_not_fit() -> None:
    class Titled(TensorClass):
        titles: PerItem[str]
        x: Tensor
        y: Tensor

    value = Titled(["a", "b"], torch.zeros(2), torch.zeros(2), batch_size=2)
    with pytest.raises(ValueError, match=r"^Titled\.y: expected a shape of \[2\]"):
        value.copy_(Titled(["c", "d"], torch.ones(2), torch.ones(2, 3), batch_size=2))
    assert (value.titles.tolist(), value.x.tolist()) == (["a", "b"], [0, 0])


def test_only_an_object_that_is_alike_is_copied() -> None:
    value: Batch = batch(4)
    with pytest.raises(TypeError, match="^copy_: expected a Batch, got a Flat$"):
        value.copy_(flat(4))  # type: ignore[arg-type] # what a checker says too
    with pytest.raises(ValueError, match=r"^Batch\.source is the same for a whole batch, but differs"):
        value.copy_(batch(4).replace(source="other"))
    with pytest.raises(TypeError, match=r"^Batch\.mask: expected a Tensor or a number, got None$"):
        value.copy_(batch(4, full=False).replace(other=value.other))
    with pytest.raises(ValueError, match=r"^Batch\.mask is None"):
        batch(4, full=False).copy_(value)


def test_values_of_items_are_copied_too() -> None:
    class Titled(TensorClass):
        x: Tensor
        titles: PerItem[str]

    value, other = Titled(torch.zeros(2), ["a", "b"], batch_size=2), Titled(torch.ones(2), ["c", "d"], batch_size=2)
    x = value.x
    assert value.copy_(other).titles.tolist() == ["c", "d"]
    assert (x.tolist(), value[1].titles) == ([1, 1], other[1].titles)
    assert Titled(torch.zeros(2, 3), ["a", "b"], batch_size=2).auto_batch_size_().batch_size == (2,)


class Heads(TensorClass):
    """With several tensors in one field."""

    by_name: dict[str, Tensor]
    in_order: list[Tensor]


def heads() -> Heads:
    return Heads({"a": torch.zeros(4), "b": torch.zeros(4, 2)}, [torch.zeros(4)], batch_size=4)


def test_each_tensor_of_a_dict_or_list_is_written() -> None:
    value = heads()
    a, first = value.by_name["a"], value.in_order[0]
    value.set_("by_name", {"b": 2, "a": torch.ones(4)}).set_("in_order", [torch.ones(4)])
    assert [int(tensor.sum()) for tensor in (a, value.by_name["b"], first)] == [4, 16, 4]
    value.copy_(heads())
    assert value.by_name["a"] is a
    assert a.sum() == 0


def test_a_dict_or_list_is_written_as_a_whole() -> None:
    value = heads()
    with pytest.raises(ValueError, match=r"^Heads\.by_name: expected tensors for \['a', 'b'\], got \['a'\]$"):
        value.set_("by_name", {"a": 1})
    with pytest.raises(
        ValueError, match=r"^Heads\.by_name\['a'\]: expected a shape of \[4\] to write in place, got \[3\]$"
    ):
        value.set_("by_name", {"a": torch.zeros(3), "b": 1})
    with pytest.raises(TypeError, match=r"^Heads\.in_order: expected a list of Tensor or a number, got a Tensor"):
        value.set_("in_order", torch.zeros(4))
