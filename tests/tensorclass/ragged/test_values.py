"""The values of Ragged fields: what a constructor takes and refuses, and conversions."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any, cast

import pytest
import torch
from torch import Tensor

from qten_gen import Ragged

from .declared import KINDS, LENGTHS, RAGGED, Batch, Frozen, Maybe, Outer, Targets, assert_items, batch, equal, sample

rand, jagged = torch.rand, torch.nested.nested_tensor_from_jagged


def from_lengths(lengths: object) -> object:
    return Ragged.from_padded(torch.ones(2, 3, 4), torch.tensor(lengths))


WRONG: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "a tensor for a batch": (
        lambda: torch.rand(2, 3, 4),
        TypeError,
        "Batch.boxes: expected a list of 2 items, each a Tensor whose first dimension is the rows, or a Ragged "
        "(Ragged.from_padded makes one of padded rows), got a Tensor of dtype torch.float32 and shape [2, 3, 4]",
    ),
    "too few": (lambda: [torch.rand(2, 4)], ValueError, "Batch.boxes: expected a list of 2, got one of 1"),
    "no tensor": (lambda: [rand(1, 4), 3], TypeError, "expected a Tensor whose first dimension is the rows, got int 3"),
    "a list in a list": (lambda: [[rand(1, 4)]] * 2, TypeError, "whose first dimension is the rows, got a list"),
    "no dimension": (lambda: [rand(()), rand(())], TypeError, "Batch.boxes: item 0: expected a Tensor whose first"),
    "another shape": (lambda: [rand(1, 4), rand(1, 5)], ValueError, "a shape of ['n', 4] as in item 0, got [1, 5]"),
    "no rows of a shape": (lambda: [rand(1, 4), rand(0)], ValueError, "a shape of ['n', 4] as in item 0, got [0]"),
    "a list of lists": (lambda: Ragged.of(cast(Any, [[1], [2]])), TypeError, "dimension is the rows, got a list"),
    "an array": (lambda: Ragged.of(cast(Any, [rand(1, 4).numpy()])), TypeError, "Ragged.of: item 0: expected a Tensor"),
    "another annotation": (
        lambda: [torch.rand(4, 3), torch.rand(4, 3)],
        ValueError,
        'Batch.boxes: expected Float[Tensor, "n 4"] for each item, got rows of dtype torch.float32 and shape [8, 3]; '
        "transpose items of shape [4, n]",
    ),
    "another dtype": (lambda: [rand(1, 4).int()] * 2, ValueError, "for each item, got rows of dtype torch.int32"),
    "a batch of 3": (lambda: Ragged(rand(3, 4), [1] * 3), ValueError, "expected items for the batch size [2], got [3]"),
    "another class": (lambda: batch()[:2].targets, TypeError, "Batch.boxes: expected Ragged[Tensor], got Ragged[Tar"),
    "another sum": (lambda: Ragged(rand(3, 4), [1, 1]), ValueError, "expected lengths of 3 rows in all, got [1, 1]"),
    "negative": (lambda: Ragged(rand(3, 4), [4, -1]), ValueError, "expected no negative lengths, got [4, -1]"),
    "floats": (lambda: Ragged(rand(3, 4), torch.ones(3)), TypeError, "Ragged: expected integers for the lengths"),
    "no rows": (lambda: Ragged(cast(Any, [1, 2])), TypeError, "Ragged: expected a Tensor or an object of a Tens"),
    "padded too little": (lambda: from_lengths([4, 1]), ValueError, "expected lengths of 4 rows in all, got [4, 1]"),
    "padded by another mask": (lambda: from_lengths([[True, False]] * 2), ValueError, "or a mask [*batch, length], of"),
    "padded by a bool": (lambda: from_lengths(True), ValueError, "Ragged.from_padded: expected lengths [*batch], or"),
    "padded by three lengths": (lambda: from_lengths([1, 1, 1]), ValueError, "expected lengths [*batch], or a"),
    "padded negatively": (
        lambda: from_lengths([-1, 1]),
        ValueError,
        "Ragged: expected no negative lengths, got [-1, 1]",
    ),
    "padded by floats": (lambda: from_lengths([1.5, 1]), TypeError, "Ragged: expected integers for the lengths"),
    "offsets": (lambda: jagged(rand(6, 4), torch.tensor([1, 2, 5])), ValueError, "Batch.boxes: expected lengths of 6"),
    "strided": (lambda: torch.nested.nested_tensor([rand(1, 4)] * 2), TypeError, "Batch.boxes: expected a nested"),
}


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested")
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_value_is_refused_with_class_field_item_and_what_was_expected(name: str) -> None:
    make, kind, message = WRONG[name]
    two = batch()[:2]
    with pytest.raises(kind, match=re.escape(message)):
        Batch(two.image, cast(Any, make()), two.targets, two.words, batch_size=2)
    if "Ragged" not in message.partition(":")[0]:
        with pytest.raises(kind, match=re.escape(message)):
            two.boxes = cast(Any, make())


def test_a_field_takes_lists_as_deep_as_there_are_batch_dimensions_and_gives_a_ragged() -> None:
    rows = [torch.arange(n) for n in (2, 0, 1, 3)]
    b = batch().reshape(2, 2)
    b.words = [rows[:2], rows[2:]]
    words = cast(Any, b).words
    assert isinstance(words, Ragged)
    assert words.lengths.tolist() == [[2, 0], [1, 3]]
    assert words[1, 0].rows.tolist() == [0]


def test_items_of_different_lengths_in_a_plain_field_are_told_of_ragged_ones() -> None:
    parts = [Targets(torch.ones(4), torch.ones(n), batch_size=()) for n in (1, 2)]
    with pytest.raises(RuntimeError, match=r"stack: Targets\.labels: .*; a field of items of different lengths is Rag"):
        Targets.stack(parts)
    one, nested = Targets(torch.ones(2, 4), torch.ones(2), batch_size=2), jagged(rand(3, 4), torch.tensor([0, 1, 3]))
    message = "a nested one of 2 items of different lengths"
    with pytest.raises(
        TypeError, match=rf"Targets\.boxes: expected a Tensor .*, got {message}; declare .* Ragged\[Tens"
    ):
        Targets(nested, torch.ones(2), batch_size=2)
    with pytest.raises(TypeError, match=rf"Targets\.labels: .* {message}"):
        one.labels = nested
    with pytest.raises(TypeError, match=r"Ragged: .* nested .*Ragged\.of"):
        Ragged(nested, [1, 2])


def test_a_field_may_be_none_in_every_object_or_in_none() -> None:
    for one, other in itertools.combinations([*KINDS][1:], 2):
        name = next((field for field in RAGGED if (field in KINDS[one]) != (field in KINDS[other])), "")
        with pytest.raises(
            TypeError, match=rf"Maybe\.{name}: expected a value in every object or in none, 1 of 2 are N"
        ):
            Maybe.cat(cast(Any, [batch(one), batch(other)]))


def test_conversion_from_and_to_padded_tensors() -> None:
    b = batch()
    padded, mask = b.boxes.padded(fill=-1), b.boxes.mask()
    assert padded.shape == (4, 3, 4)
    assert mask.sum(1).tolist() == LENGTHS
    assert (padded[~mask] == -1).all()
    assert equal(Ragged.from_padded(padded, mask), b.boxes)
    assert equal(Ragged.from_padded(padded, b.boxes.lengths), b.boxes)
    targets = b.targets.padded(fill={"labels": -100}, length=5)
    assert targets.batch_size == (4, 5)
    assert targets.labels[0].tolist() == [0, 1, 2, -100, -100]
    assert targets.boxes[1].count_nonzero() == 0
    assert equal(Ragged.from_padded(targets, b.targets.mask(5)), b.targets)
    assert b.reshape(2, 2).boxes.padded().shape == (2, 2, 3, 4)
    with pytest.raises(ValueError, match="an item has 3 rows, which do not fit length=2"):
        b.boxes.padded(length=2)
    with pytest.raises(KeyError, match="Targets has no tensor 'label'; did you mean 'labels'"):
        b.targets.padded(fill={"label": 1})


def test_conversion_from_and_to_jagged_nested_tensors() -> None:
    b = batch()
    nested = b.boxes.as_nested()
    assert nested.is_nested
    assert [part.shape[0] for part in nested.unbind()] == LENGTHS
    assert equal(Batch(b.image, nested, b.targets, b.words, batch_size=4).boxes, b.boxes)
    assert equal(Ragged.of(nested), b.boxes)
    with pytest.raises(ValueError, match="ragged dimension is 1, got 2; transpose it"):
        Ragged.of(nested.transpose(1, 2))


def test_what_a_ragged_says_of_its_items() -> None:
    given = torch.tensor(LENGTHS)
    boxes = Ragged(batch().boxes.rows, given)
    given.zero_()  # the lengths are a copy
    assert boxes.offsets.tolist() == [0, 3, 3, 5, 6]
    assert boxes.item_index.tolist() == [0, 0, 0, 2, 2, 3]
    assert boxes.max_length == 3
    assert [len(rows) for rows in boxes.as_list()] == LENGTHS
    assert boxes.reshape(2, 2).offsets.tolist() == [0, 3, 3, 5, 6]
    assert batch().targets.map_rows(lambda rows: rows.boxes.sum(-1)).lengths.tolist() == LENGTHS
    with pytest.raises(ValueError, match=r"map_rows: expected 6 rows, got a Tensor .* \[5, 4\]"):
        boxes.map_rows(lambda rows: rows[1:])


@pytest.mark.parametrize("how", ["sum", "mean", "max"])
def test_the_rows_of_each_item_are_reduced(how: Any) -> None:
    b = batch()
    boxes = Ragged(b.boxes.rows.clone().requires_grad_(), b.boxes.lengths)
    found = boxes.reduce(how)
    of_one: dict[str, Callable[[Tensor], Tensor]] = {
        "sum": lambda rows: rows.sum(0),
        "mean": lambda rows: rows.mean(0),
        "max": lambda rows: rows.amax(0) if len(rows) else rows.new_full((4,), -torch.inf),
    }
    expected = torch.stack([of_one[how](rows) for rows in boxes.as_list()])
    assert torch.allclose(found, expected, equal_nan=True)
    assert equal(boxes.reshape(2, 2).reduce(how).nan_to_num(), found.reshape(2, 2, 4).nan_to_num())
    found[[0, 2, 3]].sum().backward()  # type: ignore[no-untyped-call]
    assert boxes.rows.grad is not None and boxes.rows.grad.shape == (6, 4)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.uint8, torch.bool])
def test_rows_are_summed_in_the_dtype_that_torch_sums_in(dtype: torch.dtype) -> None:
    rows = torch.full((5000,), 3).to(dtype)
    assert equal(Ragged(rows, [5000]).reduce("sum")[0], rows.sum())
    assert not dtype.is_floating_point or equal(Ragged(rows, [5000]).reduce("mean")[0], rows.mean())


def test_gradients_reach_the_rows_and_not_the_lengths() -> None:
    b = batch().requires_grad_()
    (b[[2, 0]] * 2).boxes.rows.sum().backward()  # type: ignore[no-untyped-call]
    assert b.boxes.rows.grad is not None
    assert b.boxes.rows.grad[:, 0].tolist() == [2, 2, 2, 2, 2, 0]
    assert b.grad is not None
    assert equal(b.grad.boxes.lengths, b.boxes.lengths)
    assert not b.boxes.lengths.requires_grad
    assert b.detach().requires_grad is False


def test_locked_and_frozen_objects_keep_their_ragged_fields() -> None:
    b = batch().lock_()
    with pytest.raises(RuntimeError, match="locked"):
        b.boxes = b.boxes * 2
    frozen = Frozen(batch().boxes, batch_size=4)
    with pytest.raises(AttributeError, match="frozen"):
        frozen.boxes = batch().boxes  # type: ignore[misc]
    with pytest.raises(AttributeError, match="frozen"):
        frozen.boxes[0] = 1
    assert frozen[2:].boxes.lengths.tolist() == [2, 1]


def test_names_of_dimensions_stay() -> None:
    b = batch()
    b.names = b.boxes.names = ["item"]
    assert (b * 2).names == b[1:].names == ("item",)
    assert b.boxes[1:].names == ("item",)


def test_nested_objects_and_values_of_items_go_with_the_ragged_ones() -> None:
    b = batch().replace(marks=["a", "b", "c", "d"])
    outer = Outer(b, batch_size=4)
    found = outer[[3, 2]]
    assert_items(found.batch, [sample(3, 1), sample(2, 2)])
    assert found.batch.marks is not None and found.batch.marks.values() == ("d", "c")
