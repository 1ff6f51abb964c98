"""Names of the batch dimensions."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.tensorclass.declared import Flat, batch, flat


def named(*names: str | None) -> Flat:
    """An object with a batch dimension for each name, of sizes 2, 3, 4 ..."""
    sizes = range(2, 2 + len(names))
    return Flat(torch.zeros(*sizes, 3), torch.zeros(*sizes), batch_size=sizes, names=names)


def test_the_constructor_names_the_batch_dimensions() -> None:
    assert named("time", None).names == ("time", None)
    assert Flat(torch.zeros(2), torch.zeros(2), batch_size=2).names == (None,)
    assert flat().names == ()


def test_names_can_be_set_and_taken_away() -> None:
    value = flat(2, 3)
    value.names = ["time", "row"]
    assert value.names == ("time", "row")
    value.names = None
    assert value.names == (None, None)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (
            ["time"],
            ValueError,
            r"^Flat\.names: expected a name or None for each of 2 batch dimensions, .*got \['time'\]$",
        ),
        (["time", "time"], ValueError, r"^Flat\.names: .* all different, got \['time', 'time'\]$"),
        (3, TypeError, r"^Flat\.names: expected a sequence of str or None, got 3$"),
        ("time", TypeError, r"^Flat\.names: expected a sequence of str or None, got 'time'$"),
        ([0, 1], TypeError, r"^Flat\.names: expected a sequence of str or None, got \[0, 1\]$"),
    ],
)
def test_names_that_do_not_fit_are_refused(given: Any, error: type[Exception], message: str) -> None:
    value = flat(2, 3)
    with pytest.raises(error, match=message):
        value.names = given
    with pytest.raises(error, match=message):
        Flat(torch.zeros(2, 3), torch.zeros(2, 3), batch_size=[2, 3], names=given)
    assert value.names == (None, None)


def test_names_follow_the_batch_size() -> None:
    value = named("time", "row")
    value.batch_size = 2
    shorter = value.names
    value.batch_size = (2, 3)
    assert (shorter, value.names) == (("time",), ("time", None))


def test_copies_and_replacements_keep_names() -> None:
    value = named("time", "row")
    assert pickle.loads(pickle.dumps(value)).names == ("time", "row")
    assert dataclasses.replace(value, x=torch.ones(2, 3)).names == ("time", "row")
    assert value.replace(x=torch.ones(2, 3)).names == ("time", "row")
    assert value.replace(names=None).names == (None, None)
    assert value.replace(batch_size=2).names == (None,)


def test_names_are_shown() -> None:
    assert "names=['time', None]" in repr(named("time", None))
    assert "names" not in repr(flat(2))


MASK = torch.tensor([True, False])
ROWS = torch.tensor([1, 0, 1])
INDEXES: list[tuple[Any, tuple[str | None, ...]]] = [
    (0, ("row", "column")),
    (slice(1), ("time", "row", "column")),
    ((slice(None), 0), ("time", "column")),
    ((..., 0), ("time", "row")),
    (None, (None, "time", "row", "column")),
    ((0, None, slice(2)), (None, "row", "column")),
    (MASK, ("time", "row", "column")),
    (ROWS, ("time", "row", "column")),
    ([1, 0], ("time", "row", "column")),
    (torch.tensor(1), ("row", "column")),
    ((slice(None), ROWS), ("time", "row", "column")),
    (ROWS[:, None], (None, None, "row", "column")),
    ((ROWS, ROWS), (None, "column")),
    ((slice(None), ROWS, ROWS), ("time", None)),
    ((ROWS, slice(None), ROWS), (None, "row")),
    (torch.ones(2, 3, dtype=torch.bool), (None, "column")),
]


@pytest.mark.parametrize(("index", "names"), INDEXES)
def test_an_index_keeps_the_names_of_the_dimensions_that_are_left(index: Any, names: tuple[str | None, ...]) -> None:
    selected = named("time", "row", "column")[index]
    assert selected.names == names
    assert len(selected.names) == len(selected.batch_size)


SHAPES: dict[str, tuple[Callable[[Flat], Flat], tuple[str | None, ...]]] = {
    "permute": (lambda value: value.permute(1, 0), ("row", "time")),
    "permute by name": (lambda value: value.permute("row", "time"), ("row", "time")),
    "permute by a list of names": (lambda value: value.permute(["row", 0]), ("row", "time")),
    "transpose": (lambda value: value.transpose("time", "row"), ("row", "time")),
    "unsqueeze": (lambda value: value.unsqueeze(1), ("time", None, "row")),
    "squeeze": (lambda value: value[:1].squeeze(), ("row",)),
    "squeeze by name": (lambda value: value[:1].squeeze("time"), ("row",)),
    "squeeze of another size": (lambda value: value.squeeze("time"), ("time", "row")),
    "expand": (lambda value: value.expand(4, -1, -1), (None, "time", "row")),
    "stack": (lambda value: Flat.stack([value, value], dim=-1), ("time", "row", None)),
    "unbind": (lambda value: value.unbind("row")[0], ("time",)),
    "iteration": (lambda value: next(iter(value)), ("row",)),
    "reshape": (lambda value: value.reshape(3, 2), (None, None)),
    "flatten": (lambda value: value.flatten("time", "row"), (None,)),
    "flatten of some": (lambda value: value.unsqueeze(0).flatten(0, 1), (None, "row")),
    "flatten of one": (lambda value: value.flatten("row"), ("time", "row")),
    "unflatten into one": (lambda value: value.unflatten("row", [3]), ("time", "row")),
    "unflatten": (lambda value: value.unflatten("row", [3, 1]), ("time", None, None)),
}


@pytest.mark.parametrize("name", SHAPES)
def test_operations_on_the_dimensions_move_drop_and_insert_names(name: str) -> None:
    operation, names = SHAPES[name]
    assert operation(named("time", "row")).names == names


def test_a_dimension_that_is_named_is_the_one_that_has_the_name() -> None:
    value = named("time", "row")
    assert [part.batch_size for part in value.split([1, 2], dim="row")] == [(2, 1), (2, 2)]
    assert Flat.cat([value, value], dim="row").batch_size == (2, 6)
    with pytest.raises(ValueError, match=r"^no dimension of Flat is called 'rows'; the names are \['time', 'row'\]$"):
        value.unbind("rows")
    with pytest.raises(ValueError, match=r"the names are \[None, None\]"):
        flat(2, 3).transpose("time", "row")


def test_an_object_in_a_field_has_names_of_its_own() -> None:
    value = batch(2, 3)
    value.names = ["time", "row"]
    value.point.names = ["step", None]
    assert value.clone().point.names == ("step", None)
    assert value[0].point.names == (None,)
