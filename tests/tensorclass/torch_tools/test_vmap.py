"""`batch.vmap(fn)` against `torch.vmap`, and what only the object itself can do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import pytest
import torch
from torch import Tensor

from qten_gen import PerItem, TensorClass, Unbatched
from tests.tensorclass.declared import Flat, assert_applied, flat, tensors


class Names(TensorClass):
    """Nested fields that the batch does not carry, or that hold Python values."""

    codes: Unbatched[Tensor]
    name: PerItem[str]


class Lookup(TensorClass):
    """Every kind of field."""

    ids: Tensor
    table: Unbatched[Tensor]
    inner: Names | None = None
    heads: dict[str, Tensor] | None = None
    kind: str = "sheep"


def lookup(*batch_size: int) -> Lookup:
    count = torch.Size(batch_size).numel()
    names = PerItem([f"name {at}" for at in range(count)], batch_size)
    heads = {"left": torch.rand(batch_size), "right": torch.rand(*batch_size, 2)}
    inner = Names(torch.arange(7), names, batch_size=batch_size)
    return Lookup(torch.rand(*batch_size, 3), torch.rand(5), inner, heads, batch_size=batch_size)


def loss(value: Flat) -> Tensor:
    return (value.x.square().sum(-1) * value.y).sum()


def standardised(value: Flat) -> Flat:
    return Flat(value.x - value.x.mean(-1, keepdim=True), value.y * 2, batch_size=value.batch_size)


FUNCTIONS: tuple[Callable[[Flat], object], ...] = (
    loss,
    standardised,
    torch.func.grad(loss),
    lambda value: value + value.x.sum(),
    lambda value: (loss(value), {"all": [value, value.y]}),
    lambda value: Flat(torch.ones(3), torch.ones(()), batch_size=()),
    lambda value: torch.zeros(2),
)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_it_gives_what_torch_vmap_gives(function: Callable[[Flat], object]) -> None:
    value = flat(4)
    expected: object = torch.vmap(function)(value)
    torch.testing.assert_close(_plain(value.vmap(function)), _plain(expected))


def _plain(result: object) -> object:
    """Results without objects: dicts of tensors, with the batch size."""
    if isinstance(result, TensorClass):
        return {**tensors(result), "batch_size": tuple(result.batch_size)}
    if isinstance(result, dict):
        return {key: _plain(value) for key, value in result.items()}
    return [_plain(one) for one in result] if isinstance(result, (list, tuple)) else result


@pytest.mark.parametrize(("dim", "front"), [(0, 0), (1, 1), (-1, 1), (-2, 0), ("row", 1)])
def test_it_goes_over_any_batch_dimension(dim: int | str, front: int) -> None:
    value = flat(4, 5)
    value.names = ["time", "row"]
    expected: Tensor = torch.vmap(loss, in_dims=front)(value)
    assert torch.equal(value.vmap(loss, dim), expected)


@pytest.mark.parametrize(("out_dim", "size"), [(0, (5, 4)), (1, (4, 5)), (-1, (4, 5)), (-2, (5, 4))])
def test_the_dimension_of_results_is_counted_among_batch_dimensions(out_dim: int, size: tuple[int, int]) -> None:
    value = flat(4, 5)
    result = value.vmap(lambda item: item * 2, 1, out_dim)
    assert result.batch_size == size
    assert_applied(result if size == (4, 5) else result.permute(1, 0), value, lambda tensor: tensor * 2)


def test_what_the_batch_does_not_carry_is_passed_on() -> None:
    value = lookup(4)
    seen: list[tuple[torch.Size, torch.Size, str]] = []

    def same(item: Lookup) -> Lookup:
        seen.append((item.batch_size, item.table.shape, item.kind))
        return item

    result = value.vmap(same)
    assert seen == [(torch.Size(()), torch.Size((5,)), "sheep")]
    assert result.table is value.table
    assert result.inner is not None
    assert value.inner is not None
    assert result.inner.codes is value.inner.codes
    assert result.batch_size == result.inner.batch_size == (4,)
    torch.testing.assert_close(result.heads, value.heads)


def test_python_values_follow_their_items() -> None:
    value = lookup(2, 3)
    result = value.vmap(lambda item: item, 1, 0)
    assert result.inner is not None
    assert result.inner.name.tolist() == [["name 0", "name 3"], ["name 1", "name 4"], ["name 2", "name 5"]]


def test_a_value_for_each_item_in_a_field_that_the_batch_does_not_carry_is_refused() -> None:
    message = r"^vmap: Lookup\.table is the same for a whole batch, and the function gave it a value for each item$"
    with pytest.raises(TypeError, match=message):
        lookup(4).vmap(lambda item: item.replace(table=item.table * item.ids.sum()))
    with pytest.raises(TypeError, match=r"^vmap: Names\.codes is the same for a whole batch"):
        lookup(4).vmap(
            lambda item: item.replace(inner=Names(item.ids, PerItem("a", ()), batch_size=())),
        )


def test_dimension_names_are_those_of_the_others_inside_and_outside() -> None:
    value = flat(4, 5)
    value.names = ["time", "row"]
    seen: list[tuple[str | None, ...]] = []

    def same(item: Flat) -> Flat:
        seen.append(item.names)
        return item

    assert value.vmap(same, "row", -1).names == ("time", None)
    assert seen == [("time",)]


def test_torch_vmap_loses_the_names_of_the_dimensions() -> None:
    value = flat(4, 5)
    value.names = ["time", "row"]
    seen: list[object] = []

    def doubled(item: Flat) -> Flat:
        seen.append(item.names)
        return item * 2

    assert torch.vmap(doubled, in_dims=1, out_dims=1)(value).names == (None, None)
    assert seen == [(None,)]


def test_random_numbers_are_refused_different_or_the_same() -> None:
    def noise(randomness: Literal["error", "different", "same"]) -> Tensor:
        return flat(4).vmap(lambda item: torch.rand(()), randomness=randomness)

    assert len(set(noise("different").tolist())) == 4
    assert len(set(noise("same").tolist())) == 1
    with pytest.raises(RuntimeError, match="randomness"):
        noise("error")


@pytest.mark.parametrize("result", [1, None, "text", object()])
def test_other_results_are_refused(result: object) -> None:
    with pytest.raises(TypeError, match=r"^vmap: expected the function to return tensors or objects, got"):
        flat(4).vmap(lambda item: (item, result))


def test_a_dimension_that_is_not_there_is_refused() -> None:
    with pytest.raises(IndexError, match=r"^dimension 1 is out of range: Flat has 1 batch dimension$"):
        flat(4).vmap(loss, 1)
    with pytest.raises(IndexError, match=r"^vmap: expected out_dim from -1 to 0 for results of Flat, got 2$"):
        flat(4).vmap(lambda item: item, 0, 2)


@pytest.mark.parametrize("events", [3, 5], ids=["another size", "the same size"])
@pytest.mark.parametrize("hidden", [0, 1])
@pytest.mark.parametrize("out_dim", [0, 1, 2, 3, -1])
def test_torch_vmap_refuses_to_put_the_dimension_behind_the_batch(events: int, hidden: int, out_dim: int) -> None:
    """What it gives elsewhere is what the tensors give; there, the sizes alone would not tell."""
    value = Flat(torch.rand(5, 5, events, 2), torch.rand(5, 5, events, 2), batch_size=(5, 5))

    def function(one: Flat) -> Flat:
        return one * 2 + 1

    mapped: Any = torch.vmap(function, in_dims=hidden, out_dims=out_dim)
    if out_dim in (0, 1):
        got = mapped(value)
        assert got.batch_size == (5, 5)
        assert torch.equal(got.x, torch.vmap(lambda x: x * 2 + 1, hidden, out_dim)(value.x))
    else:
        with pytest.raises(
            ValueError, match="out_dims puts the dimension among those that the fields of Flat have beyond"
        ):
            mapped(value)
