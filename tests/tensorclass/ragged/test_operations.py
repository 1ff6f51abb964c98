"""What rearranges, takes apart, computes with and writes into batches, with Ragged fields in them."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable
from operator import setitem
from typing import Any, cast

import pytest
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._pytree import tree_map

from qten_gen import Ragged, lifted

from .declared import (
    KINDS,
    MASK,
    RAGGED,
    Batch,
    Drawing,
    Part,
    allclose,
    assert_items,
    batch,
    drawing,
    equal,
    items,
    sample,
)

put: Any = setitem  # of objects and values that types refuse
ones = torch.ones

REARRANGING: dict[str, tuple[Callable[[Batch], Batch], list[int], tuple[int, ...]]] = {
    "integer": (lambda b: b[2], [2], ()),
    "slice": (lambda b: b[1:3], [1, 2], (2,)),
    "slice with a step": (lambda b: b[::2], [0, 2], (2,)),
    "list": (lambda b: b[[2, 0, 2]], [2, 0, 2], (3,)),
    "tensor": (lambda b: b[torch.tensor([[3, 1], [0, 0]])], [3, 1, 0, 0], (2, 2)),
    "mask": (lambda b: b[MASK], [0, 3], (2,)),
    "None": (lambda b: b[None], [0, 1, 2, 3], (1, 4)),
    "ellipsis": (lambda b: b[..., 1:], [1, 2, 3], (3,)),
    "two dimensions": (lambda b: b.reshape(2, 2)[:, 1], [1, 3], (2,)),
    "reshape": (lambda b: b.reshape(2, 2), [0, 1, 2, 3], (2, 2)),
    "view": (lambda b: b.view(-1, 2), [0, 1, 2, 3], (2, 2)),
    "transpose": (lambda b: b.reshape(2, 2).transpose(0, 1), [0, 2, 1, 3], (2, 2)),
    "expand": (lambda b: b[:2].unsqueeze(0).expand(2, 2), [0, 1, 0, 1], (2, 2)),
    "repeat_interleave": (lambda b: b[:2].repeat_interleave(2), [0, 0, 1, 1], (4,)),
    "flip": (lambda b: b.flip(0), [3, 2, 1, 0], (4,)),
    "gather": (lambda b: b.gather(0, torch.tensor([3, 3, 0])), [3, 3, 0], (3,)),
    "stack": (lambda b: type(b).stack([b, b.flip(0)]), [0, 1, 2, 3, 3, 2, 1, 0], (2, 4)),
    "stack along 1": (lambda b: type(b).stack([b, b.flip(0)], 1), [0, 3, 1, 2, 2, 1, 3, 0], (4, 2)),
    "cat": (lambda b: type(b).cat([b[2:], b]), [2, 3, 0, 1, 2, 3], (6,)),
    "cat along 1": (lambda b: type(b).cat([b[:, None], b.flip(0)[:, None]], 1), [0, 3, 1, 2, 2, 1, 3, 0], (4, 2)),
    "clone": (lambda b: b.clone(), [0, 1, 2, 3], (4,)),
    "detach": (lambda b: b.detach(), [0, 1, 2, 3], (4,)),
    "to a device": (lambda b: b.to("cpu"), [0, 1, 2, 3], (4,)),
    "copy": (lambda b: copy.copy(b), [0, 1, 2, 3], (4,)),
    "deepcopy": (lambda b: copy.deepcopy(b), [0, 1, 2, 3], (4,)),
    "apply": (lambda b: b.apply(torch.clone), [0, 1, 2, 3], (4,)),
    "replace": (lambda b: b.replace(boxes=b.boxes), [0, 1, 2, 3], (4,)),
    "to_dict and from_dict": (lambda b: type(b).from_dict(b.to_dict(), batch_size=4), [0, 1, 2, 3], (4,)),
    "where": (lambda b: b.where(MASK, b.clone()), [0, 1, 2, 3], (4,)),
    "where with other items": (lambda b: b.where(MASK, b.flip(0)), [0, 2, 1, 3], (4,)),
}
"""One of each way; the law of `operations/test_model.py` tries all operations."""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", REARRANGING)
def test_what_rearranges_a_batch_rearranges_its_ragged_items(name: str, kind: str) -> None:
    rearranged, expected, size = REARRANGING[name]
    found = rearranged(batch(kind))
    for ragged in [getattr(found, field) for field in KINDS[kind]]:
        assert found.batch_size == ragged.batch_size == ragged.lengths.shape == size
    assert_items(found, [items(kind)[at] for at in expected])


TAKING_APART: dict[str, tuple[Callable[[Batch], Any], list[list[int]]]] = {
    "split": (lambda b: b.split(3), [[0, 1, 2], [3]]),
    "split into sizes": (lambda b: b.split([1, 0, 3]), [[0], [], [1, 2, 3]]),
    "chunk": (lambda b: b.chunk(3), [[0, 1], [2, 3]]),
    "unbind": (lambda b: b.unbind(), [[0], [1], [2], [3]]),
    "unbind along 1": (lambda b: b.reshape(2, 2).unbind(1), [[0, 2], [1, 3]]),
    "iterate": (lambda b: list(b), [[0], [1], [2], [3]]),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", TAKING_APART)
def test_what_takes_a_batch_apart_takes_its_ragged_items_apart(name: str, kind: str) -> None:
    taken_apart, expected = TAKING_APART[name]
    for part, numbers in zip(taken_apart(batch(kind)), expected, strict=True):
        assert_items(part, [items(kind)[at] for at in numbers])


def test_items_that_follow_one_another_are_views() -> None:
    b = batch()
    memory = b.boxes.rows.untyped_storage().data_ptr()
    for part in (b[1:], b[2], *b.split(2), *b.unbind(), b.reshape(2, 2), b[:]):
        assert part.boxes.rows.untyped_storage().data_ptr() == memory
        assert (
            part.targets.rows.labels.untyped_storage().data_ptr() == b.targets.rows.labels.untyped_storage().data_ptr()
        )


COMPUTING: dict[str, tuple[Callable[[Any], Any], Callable[[Tensor], Tensor]]] = {
    "arithmetic": (lambda b: b * 2 + 1, lambda t: t * 2 + 1),
    "two objects": (lambda b: b + b.clone(), lambda t: t + t),
    "of a tensor without dimensions": (lambda b: b * torch.tensor(3), lambda t: t * torch.tensor(3)),
    "cast": (lambda b: b.to(torch.float16), lambda t: t.half() if t.is_floating_point() else t),
    "zeros_like": (torch.zeros_like, torch.zeros_like),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", COMPUTING)
def test_what_computes_computes_with_the_rows_and_leaves_the_lengths(name: str, kind: str) -> None:
    computed, of_tensor = COMPUTING[name]
    found, b = computed(batch(kind)), batch(kind)
    for left, right in zip(found._leaves(), b._leaves(), strict=True):
        assert equal(left, of_tensor(right))
    for field in KINDS[kind]:
        assert equal(getattr(found, field).lengths, getattr(b, field).lengths)


def test_structure_is_no_value() -> None:
    b = batch()
    assert (b == b).all() is True
    assert allclose(b, b)
    assert equal(b, batch())
    assert not equal(b, b.flip(0))
    assert (b.boxes > -1).all() is True
    assert (b.boxes * 0).any() is False
    seen = b.named_apply(lambda key, tensor: tensor + (1 if key == "labels" else 0))
    assert equal(seen.targets.rows.labels, b.targets.rows.labels + 1)
    assert equal(seen.boxes.rows, b.boxes.rows)


def without_numbers(b: Batch) -> Batch:
    """The batch on the meta device, where nobody has read the lengths before."""
    return cast(Batch, tree_map(lambda tensor: tensor.to("meta"), b))


def fake(b: Batch) -> Batch:
    return cast(Batch, tree_map(FakeTensorMode().from_tensor, b))


def keep_all(boxes: Ragged[Tensor]) -> Ragged[Tensor]:
    return boxes.keep_rows(torch.ones_like(boxes.rows[:, 0], dtype=torch.bool))


def thin(part: Part) -> Part:
    return part.replace(box=part.box[:, :1])


REFUSED: dict[str, tuple[Callable[[Batch], object], str]] = {
    "sum along the batch": (lambda b: lifted(torch.sum)(b, 0), "its items cannot be reduced; reduce the rows"),
    "sum of all": (lambda b: lifted(torch.sum)(b), "Batch.boxes is Ragged, and its items cannot be reduced"),
    "max along the batch": (lambda b: lifted(torch.max)(b, 0), "Batch.boxes is Ragged, and its items cannot be red"),
    "sum of a field": (lambda b: lifted(torch.sum)(b.boxes, 0), "the items of a Ragged cannot be reduced; reduce the"),
    "a layer": (lambda b: torch.nn.Linear(4, 2)(b.boxes), "linear is not defined for Ragged; compute with .rows, or"),
    "cumsum": (lambda b: lifted(torch.cumsum)(b, 0), "Batch.boxes is Ragged, and its items cannot be"),
    "new_zeros": (lambda b: b.new_zeros(3), "Batch.boxes is Ragged, and its items cannot be created"),
    "pad": (lambda b: b.pad([1, 1]), "Batch.boxes is Ragged, and its items cannot be padded"),
    "a tensor over the batch": (lambda b: b * torch.ones(4), "Batch.boxes: a Tensor over the batch size does not"),
    "objects of other lengths": (lambda b: b + b.flip(0), "Batch.boxes: expected the same lengths in both, got 3 and"),
    "inner items of other lengths": (
        lambda b: put(Drawing.stack([drawing(1, [2, 1])]), 0, drawing(1, [1, 2])),
        "Part.outline: written items: expected the same lengths in both, got 2 and 1 rows in item 0",
    ),
    "apply to another batch size": (lambda b: b.apply(lambda t: t.sum(0), batch_size=()), "Ragged"),
    "apply to other numbers of rows": (lambda b: b.boxes.apply(lambda t: t[1:]), "the lengths say that there are 6"),
    "apply to fewer objects": (lambda b: b.targets.apply(lambda t: t[1:]), "Targets.boxes: expected a shape that"),
    "a tree": (lambda b: tree_map(lambda t: t * 2, b), "Ragged.lengths, which a function of a tree changed: expected"),
    "a tree of floats": (lambda b: tree_map(Tensor.float, b), "lengths of torch.int64, got torch.float32; use apply"),
    "lengths without numbers": (lambda b: without_numbers(b).flip(0), "Batch.boxes: the lengths of Ragged items are"),
    "a length without numbers": (lambda b: without_numbers(b).boxes.padded(), "Ragged.max_length: the lengths of"),
    "fake items": (lambda b: fake(b)[1:], "Batch.boxes: the lengths of Ragged items are unknown"),
    "a mask over fake items": (lambda b: fake(b)[fake(b).image[:, 0] > 1], "Batch: a mask on the meta device or of"),
    "rows without numbers": (lambda b: keep_all(without_numbers(b).boxes), "Ragged.keep_rows: a mask on the meta"),
    "padded without numbers": (
        lambda b: Ragged.from_padded(ones(6, 4), ones(6, device="meta").bool()),
        "Ragged.from_padded: a mask on the meta device",
    ),
    "items of other lengths": (lambda b: put(b, 0, b[2]), "Batch.boxes: written items: expected the same lengths in"),
    "a field of rows": (lambda b: cast(Any, b.targets).boxes, "Ragged[Targets] has no 'boxes'; its rows have it:"),
    "a field of rows to set": (lambda b: setattr(b.targets, "boxes", 1), "its rows have it: .rows.boxes"),
    "a write to fake items": (lambda b: put(fake(b), 0, 1), "Batch.boxes: the lengths of Ragged items are unknown"),
    "rows of other features": (lambda b: put(b.boxes, 2, Ragged(ones(2, 1))), "of the shape ['n', 4], got ['n', 1]"),
    "rows for features": (lambda b: put(b.boxes[2:3], 0, Ragged(ones(2))), "rows of the shape ['n', 4], got ['n']"),
    "objects of other features": (
        lambda b: put(Drawing.stack([drawing(1, [2, 1])]), 0, Drawing(drawing(1, [2, 1]).parts.map_rows(thin))),
        "Drawing.parts: written items: expected rows of the shape ['n', 4], got ['n', 1]",
    ),
    "a tensor of rows": (lambda b: put(b.boxes, 2, ones(2, 4)), "write Ragged items of the same lengths"),
    "max of bools": (lambda b: (b.boxes > 0).reduce("max"), "the max of torch.bool is not defined"),
    "vmap of a tree": (lambda b: torch.vmap(lambda item: item.image)(b[:0]), "Ragged"),
    "vmap": (lambda b: b.vmap(lambda item: item.image), "Batch.boxes is Ragged, and vmap cannot map"),
    "lengths": (lambda b: setattr(b.boxes, "lengths", torch.ones(4)), "has no setter"),
    "other rows": (lambda b: setattr(b.boxes, "rows", torch.ones(6, 4)), "has no setter"),
    "deriving": (lambda b: type("Boxes", (Ragged,), {}), "Ragged cannot be derived from"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_defined_of_items_of_different_lengths_is_refused_by_name(name: str) -> None:
    call, message = REFUSED[name]
    cells = {"required": message}
    if message.startswith("Batch.boxes"):  # what is done to the batch, and refused because of its first Ragged field
        cells |= {f"only {field}": message.replace("Batch.boxes", f"Maybe.{field}") for field in RAGGED}
    for kind, expected in cells.items():
        b = batch(kind)
        with pytest.raises((TypeError, ValueError, AttributeError), match=re.escape(expected)):
            call(b)
        assert equal(b, batch(kind))


def test_objects_whose_rows_have_other_features_are_not_stacked() -> None:
    first, second = drawing(1, [2, 1]), drawing(1, [3, 1])
    with pytest.raises(RuntimeError, match=re.escape("stack: Drawing.parts: Part.box: Sizes of tensors must match")):
        Drawing.stack([first, Drawing(second.parts.map_rows(thin))])


def test_lengths_that_were_read_are_known_on_the_meta_device() -> None:
    found = batch().to("meta")[[2, 0]]
    assert found.boxes.rows.shape == (5, 4)


def test_items_of_equal_lengths_are_written_in_place() -> None:
    b = batch()
    boxes = b.boxes.rows
    b[[0, 3]] = b[[0, 3]] * 2
    assert b.boxes.rows is boxes
    assert_items(b, [sample(0, 3) * 2, sample(1, 0), sample(2, 2), sample(3, 1) * 2])
    b[2] = b[2] + 1
    assert equal(b[2].targets.rows.labels, torch.arange(2) + 1)


def test_numbers_are_written_into_the_rows_of_items() -> None:
    b = batch()
    b[2] = 7
    b[MASK] = 5
    expected = [sample(0, 3) * 0 + 5, sample(1, 0), sample(2, 2) * 0 + 7, sample(3, 1) * 0 + 5]
    assert_items(b, expected)
    with pytest.raises(TypeError, match=r"Batch\.boxes: a Tensor over the batch size does not apply to Ragged items"):
        b[:] = torch.ones(4)


def test_rows_may_have_ragged_items_and_python_values_of_their_own() -> None:
    drawings = Drawing.stack([drawing(1, [1, 2]), drawing(2, [3]), drawing(3, [0, 1, 2])])
    some = drawings[[2, 0]].parts
    assert some.rows.name.values() == ("3.0", "3.1", "3.2", "1.0", "1.1")
    assert some.rows.outline.lengths.tolist() == [0, 1, 2, 1, 2]
    assert (drawings * 2)[1].parts.rows.outline[0].rows.tolist() == [4, 6, 8]
    kept = drawings.parts.keep_rows(drawings.parts.rows.outline.lengths > 1)
    assert kept.lengths.tolist() == [1, 1, 1]
    assert kept.rows.name.values() == ("1.1", "2.0", "3.2")
    assert equal(pickle.loads(pickle.dumps(drawings)), drawings)


def test_a_field_may_have_more_batch_dimensions_than_its_object() -> None:
    parts = drawing(1, [1, 0, 2, 1]).parts.rows
    wide = Drawing(Ragged(parts, torch.tensor([[1, 2], [1, 0]])), batch_size=2)
    assert wide[1].parts.lengths.tolist() == [1, 0]
    assert wide[1].parts.rows.name.values() == ("1.3",)
    assert Drawing.cat([wide, wide]).parts.batch_size == (4, 2)
    assert wide.unbind()[0].parts.batch_size == (2,)
