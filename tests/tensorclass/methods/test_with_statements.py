"""`with batch.view(-1) as flat:` writes back what the block changes; `del batch.mask` takes an optional value out."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from qten_gen import TensorClass

from ..declared import flat


class Point(TensorClass):
    weight: Tensor


class Grid(TensorClass):
    x: Tensor
    point: Point
    parts: dict[str, Tensor]
    mask: Tensor | None = None
    unit: str = "kg"


class Frozen(TensorClass, frozen=True):
    x: Tensor
    mask: Tensor | None = None


def grid() -> Grid:
    values = torch.arange(24.0).reshape(2, 1, 3, 4)
    point = Point(values + 100, batch_size=[2, 1, 3])
    return Grid(values, point, {"a": values + 200}, batch_size=[2, 1, 3])


VIEWS: dict[str, Callable[[Grid], Grid]] = {
    "view": lambda value: value.view(-1),
    "view as it is": lambda value: value.view(2, 1, 3),
    "reshape": lambda value: value.reshape(3, 2),
    "flatten": lambda value: value.flatten(),
    "flatten some": lambda value: value.flatten(0, 1),
    "unflatten": lambda value: value.unflatten(2, (3, 1)),
    "unsqueeze": lambda value: value.unsqueeze(-1),
    "squeeze": lambda value: value.squeeze(1),
    "squeeze all": lambda value: value.squeeze(),
    "permute": lambda value: value.permute(2, 0, 1),
    "transpose": lambda value: value.transpose(0, 2),
    "swapaxes": lambda value: value.swapaxes(0, 1),
    "movedim": lambda value: value.movedim(0, -1),
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_what_a_block_sets_is_written_back(view: Callable[[Grid], Grid]) -> None:
    value, expected = grid(), grid() * 2
    with view(value) as seen:
        seen.x = seen.x * 2
        seen.point.weight = seen.point.weight * 2
        seen.parts = {"a": seen.parts["a"] * 2}
        seen.unit = "g"
        seen.mask = torch.ones(seen.batch_size)
    assert value.replace(mask=None, unit="kg").apply(torch.eq, expected).all()
    assert value.mask is not None and value.mask.shape == (2, 1, 3)
    assert value.unit == "g"


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("is_contiguous", [True, False], ids=["contiguous", "a copy is made"])
def test_what_a_block_writes_in_place_is_written_back(view: Callable[[Grid], Grid], is_contiguous: bool) -> None:
    value = grid() if is_contiguous else grid().permute(2, 1, 0).clone().permute(2, 1, 0)
    expected = value * 2
    if not is_contiguous and view in (VIEWS["view"], VIEWS["reshape"]):
        view = VIEWS["flatten"]
    with view(value) as seen:
        seen *= 2
    assert value.apply(torch.eq, expected).all()


def test_a_field_that_a_block_leaves_alone_keeps_its_tensor() -> None:
    value = grid()
    weight = value.point.weight = nn.Parameter(value.point.weight)
    with value.view(-1) as seen:
        seen.x = seen.x + 1
    assert value.point.weight is weight


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_what_the_object_itself_is_given_meanwhile_stays(view: Callable[[Grid], Grid]) -> None:
    value, expected = grid(), grid()
    with view(value) as seen:
        value.update(x=expected.x + 10, point=expected.point + 10, parts={"b": expected.x})
        seen.unit = "g"
    assert torch.equal(value.x, expected.x + 10)
    assert torch.equal(value.point.weight, expected.point.weight + 10)
    assert list(value.parts) == ["b"]
    assert value.unit == "g"


def test_an_error_in_the_block_writes_nothing_back() -> None:
    value = grid()
    before = value.x
    with pytest.raises(RuntimeError, match="no"), value.view(-1) as seen:
        seen.x = seen.x + 1
        raise RuntimeError("no")
    assert value.x is before


def test_a_locked_object_is_written_in_place() -> None:
    value = grid().lock_()
    tensor, expected = value.x, value.x + 1
    with value.view(-1) as seen:
        seen.x = seen.x + 1
    assert value.x is tensor and torch.equal(tensor, expected)


def test_a_frozen_object_stays_as_it_is() -> None:
    value = Frozen(torch.ones(2, 3), batch_size=[2])
    with value.view(2, 1) as seen:
        assert seen.batch_size == (2, 1)
    assert value.x.tolist() == [[1, 1, 1], [1, 1, 1]]


def test_statements_can_stand_in_one_another() -> None:
    value = grid()
    with value.view(-1) as flat, flat.unsqueeze(0) as row, value.lock_():
        row.x = row.x * 0
        assert value.is_locked
    assert not value.is_locked
    assert value.x.abs().sum() == 0


def test_an_object_that_is_gone_is_not_written_to_in_silence() -> None:
    value = grid()
    with (
        pytest.raises(
            RuntimeError,
            match="made of no longer exists, so nothing can be written back; assign it to a variable first$",
        ),
        value.view(-1).unsqueeze(0),
    ):
        pass


@pytest.mark.parametrize(
    "made", [lambda value: value.flip(0), lambda value: value + 1, copy.copy], ids=["flip", "+", "copy"]
)
def test_other_results_are_refused_with_advice(made: Callable[[Grid], Grid]) -> None:
    with (
        pytest.raises(TypeError, match=r"such as \.view; write the result of other methods back with \.update$"),
        made(grid()),
    ):
        pass


def test_a_copy_or_pickle_of_a_view_is_an_object_of_its_own() -> None:
    value = grid()
    seen = value.view(-1)
    for other in (copy.copy(seen), copy.deepcopy(seen), pickle.loads(pickle.dumps(seen))):
        with pytest.raises(TypeError), other:
            pass


def test_a_view_does_not_keep_what_it_was_made_of() -> None:
    import weakref

    value = grid()
    seen, alive = value.view(-1), weakref.ref(value)
    del value
    assert alive() is None and seen.batch_size == (6,)


def test_deleting_an_optional_field_makes_it_none() -> None:
    value = grid()
    value.mask = torch.ones(2, 1, 3)
    del value.mask
    assert value.mask is None
    del value.mask
    assert value.mask is None


@pytest.mark.parametrize("name", ["x", "point", "unit", "parts"])
def test_no_other_field_can_be_deleted(name: str) -> None:
    message = rf"^Grid\.{name} cannot be deleted: every object has the fields of its class, and only optional"
    with pytest.raises(AttributeError, match=message):
        delattr(grid(), name)


def test_a_locked_or_frozen_object_lets_nothing_be_deleted() -> None:
    with pytest.raises(RuntimeError, match=r"cannot assign to Grid\.mask: it is locked"):
        del grid().lock_().mask
    with pytest.raises(dataclasses.FrozenInstanceError):
        delattr(Frozen(torch.ones(2), batch_size=[2]), "mask")


@pytest.mark.parametrize("dim", [0, None, (0, 1)])
def test_a_squeeze_that_drops_nothing_is_written_back_too(dim: int | tuple[int, ...] | None) -> None:
    grid = Grid(torch.zeros(2, 3), Point(torch.zeros(2, 3), batch_size=(2, 3)), {}, batch_size=(2, 3))
    with grid.squeeze() if dim is None else grid.squeeze(dim) as same:
        same.x = same.x + 1
    assert same is not grid
    assert grid.x.eq(1).all()


def test_a_view_in_compiled_code_breaks_the_graph_or_says_what_to_write() -> None:
    def block(value: Any) -> Any:
        with value.view(-1) as written:
            written.x = written.x + 1
        return value

    def instead(value: Any) -> Any:
        written = value.view(-1)
        written.x = written.x + 1
        value.update(written.view(value.batch_size).to_dict())
        return value

    given = flat(2, 3)
    expected = block(given.clone()).x
    with pytest.raises(Exception, match=r"does not trace a with statement .* batch\.update\(flat\.view"):
        torch.compile(block, fullgraph=True, backend="eager")(given.clone())
    assert torch.equal(torch.compile(block, backend="eager")(given.clone()).x, expected)
    assert torch.equal(torch.compile(instead, fullgraph=True, backend="eager")(given.clone()).x, expected)
