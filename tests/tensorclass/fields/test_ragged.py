"""`Ragged`: items with different numbers of rows, as fields of a class and alone."""

from __future__ import annotations

import copy
import io
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from jaxtyping import Float
from torch import Tensor
from torch.utils import _pytree

from qten_gen import PerItem, Ragged, TensorClass

LENGTHS = [3, 0, 2, 1]
equal: Any = torch.equal  # also of objects, which the types of torch do not say
allclose: Any = torch.allclose


class Targets(TensorClass):
    """The rows of one field."""

    boxes: Float[Tensor, "*batch 4"]
    labels: Tensor


class Batch(TensorClass):
    """A field of each kind of rows, beside other kinds of fields."""

    image: Tensor
    boxes: Ragged[Float[Tensor, "n 4"]]
    targets: Ragged[Targets]
    words: Ragged[Tensor] | None = None
    marks: PerItem[str] | None = None
    tag: str = "train"


class Frozen(TensorClass, frozen=True):
    """Objects that cannot be changed."""

    boxes: Ragged[Tensor]


class Outer(TensorClass):
    """Holds a batch."""

    batch: Batch


def sample(number: int, length: int) -> Batch:
    """One item, whose numbers tell which."""
    boxes = torch.full((length, 4), float(number)) + torch.arange(length).unsqueeze(1) / 10
    return Batch(
        torch.full((2,), float(number)),
        boxes,
        Targets(boxes + 100, torch.arange(length), batch_size=length),
        Ragged(boxes[:, 0]),
    )


def items() -> list[Batch]:
    return [sample(*pair) for pair in enumerate(LENGTHS)]


def batch() -> Batch:
    return Batch.stack(items())


def plain(value: Batch) -> list[tuple[Tensor, ...]]:
    """The tensors of each item, row by row of the batch."""
    flat = value.reshape(-1) if value.batch_size else value.unsqueeze(0)
    words = [None] * len(flat) if flat.words is None else flat.words.as_list()
    rows = flat.targets.as_list()
    every = zip(flat.image, flat.boxes.as_list(), rows, words, strict=True)
    return [
        (image, boxes, one.boxes, one.labels, torch.zeros(()) if word is None else word)
        for image, boxes, one, word in every
    ]


def assert_items(found: Batch, expected: list[Batch]) -> None:
    """Compare a batch with its items, which stand alone."""
    mine = plain(found)
    assert len(mine) == len(expected)
    for one, item in zip(mine, expected, strict=True):
        for left, right in zip(one, plain(item)[0], strict=True):
            assert left.dtype is right.dtype
            assert equal(left, right)


MASK = torch.tensor([True, False, False, True])

REARRANGING: dict[str, tuple[Callable[[Batch], Batch], list[int], tuple[int, ...]]] = {
    "integer": (lambda b: b[2], [2], ()),
    "negative integer": (lambda b: b[-1], [3], ()),
    "slice": (lambda b: b[1:3], [1, 2], (2,)),
    "empty slice": (lambda b: b[3:1], [], (0,)),
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
    "permute": (lambda b: b.reshape(1, 2, 2).permute(2, 0, 1), [0, 2, 1, 3], (2, 1, 2)),
    "unsqueeze": (lambda b: b.unsqueeze(1), [0, 1, 2, 3], (4, 1)),
    "squeeze": (lambda b: b.unsqueeze(0).squeeze(0), [0, 1, 2, 3], (4,)),
    "flatten": (lambda b: b.reshape(2, 2).flatten(), [0, 1, 2, 3], (4,)),
    "expand": (lambda b: b[:2].unsqueeze(0).expand(2, 2), [0, 1, 0, 1], (2, 2)),
    "repeat": (lambda b: b[:2].repeat(2), [0, 1, 0, 1], (4,)),
    "repeat_interleave": (lambda b: b[:2].repeat_interleave(2), [0, 0, 1, 1], (4,)),
    "flip": (lambda b: b.flip(0), [3, 2, 1, 0], (4,)),
    "roll": (lambda b: b.roll(1, 0), [3, 0, 1, 2], (4,)),
    "narrow": (lambda b: b.narrow(0, 1, 2), [1, 2], (2,)),
    "masked_select": (lambda b: b.masked_select(MASK), [0, 3], (2,)),
    "gather": (lambda b: b.gather(0, torch.tensor([3, 3, 0])), [3, 3, 0], (3,)),
    "stack": (lambda b: Batch.stack([b, b.flip(0)]), [0, 1, 2, 3, 3, 2, 1, 0], (2, 4)),
    "stack along 1": (lambda b: Batch.stack([b, b.flip(0)], 1), [0, 3, 1, 2, 2, 1, 3, 0], (4, 2)),
    "cat": (lambda b: Batch.cat([b[2:], b]), [2, 3, 0, 1, 2, 3], (6,)),
    "cat along 1": (lambda b: Batch.cat([b.unsqueeze(1), b.flip(0).unsqueeze(1)], 1), [0, 3, 1, 2, 2, 1, 3, 0], (4, 2)),
    "clone": (lambda b: b.clone(), [0, 1, 2, 3], (4,)),
    "detach": (lambda b: b.detach(), [0, 1, 2, 3], (4,)),
    "contiguous": (lambda b: b.contiguous(), [0, 1, 2, 3], (4,)),
    "to a device": (lambda b: b.to("cpu"), [0, 1, 2, 3], (4,)),
    "copy": (lambda b: copy.copy(b), [0, 1, 2, 3], (4,)),
    "deepcopy": (lambda b: copy.deepcopy(b), [0, 1, 2, 3], (4,)),
    "apply": (lambda b: b.apply(torch.clone), [0, 1, 2, 3], (4,)),
    "replace": (lambda b: b.replace(boxes=b.boxes), [0, 1, 2, 3], (4,)),
    "to_dict and from_dict": (lambda b: Batch.from_dict(b.to_dict(), batch_size=4), [0, 1, 2, 3], (4,)),
    "where": (lambda b: b.where(MASK, b.clone()), [0, 1, 2, 3], (4,)),
    "where with other items": (lambda b: b.where(MASK, b.flip(0)), [0, 2, 1, 3], (4,)),
}


@pytest.mark.parametrize("name", REARRANGING)
def test_what_rearranges_a_batch_rearranges_its_ragged_items(name: str) -> None:
    rearranged, expected, size = REARRANGING[name]
    found = rearranged(batch())
    assert found.batch_size == found.boxes.batch_size == found.targets.batch_size == size
    assert found.boxes.lengths.shape == size
    assert_items(found, [items()[at] for at in expected])


TAKING_APART: dict[str, tuple[Callable[[Batch], Any], list[list[int]]]] = {
    "split": (lambda b: b.split(3), [[0, 1, 2], [3]]),
    "split into sizes": (lambda b: b.split([1, 0, 3]), [[0], [], [1, 2, 3]]),
    "chunk": (lambda b: b.chunk(2), [[0, 1], [2, 3]]),
    "tensor_split": (lambda b: b.tensor_split([1]), [[0], [1, 2, 3]]),
    "unbind": (lambda b: b.unbind(), [[0], [1], [2], [3]]),
    "unbind along 1": (lambda b: b.reshape(2, 2).unbind(1), [[0, 2], [1, 3]]),
    "iterate": (lambda b: list(b), [[0], [1], [2], [3]]),
}


@pytest.mark.parametrize("name", TAKING_APART)
def test_what_takes_a_batch_apart_takes_its_ragged_items_apart(name: str) -> None:
    taken_apart, expected = TAKING_APART[name]
    found = taken_apart(batch())
    assert len(found) == len(expected)
    for part, numbers in zip(found, expected, strict=True):
        assert_items(part, [items()[at] for at in numbers])


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
    "reflected": (lambda b: 1 - b, lambda t: 1 - t),
    "function": (
        lambda b: torch.exp(b.to(torch.float64)),
        lambda t: torch.exp(t.double() if t.is_floating_point() else t),
    ),
    "method": (lambda b: b.abs(), torch.abs),
    "clamp": (lambda b: b.clamp(0, 1), lambda t: t.clamp(0, 1)),
    "comparison": (lambda b: b > 1, lambda t: t > 1),
    "of a tensor without dimensions": (lambda b: b * torch.tensor(3), lambda t: t * torch.tensor(3)),
    "cast": (lambda b: b.to(torch.float16), lambda t: t.half() if t.is_floating_point() else t),
    "zeros_like": (torch.zeros_like, torch.zeros_like),
    "where with a number": (lambda b: b.where(b > 1, 0), lambda t: t.where(t > 1, 0)),
}


@pytest.mark.parametrize("name", COMPUTING)
def test_what_computes_computes_with_the_rows_and_leaves_the_lengths(name: str) -> None:
    computed, of_tensor = COMPUTING[name]
    found, b = computed(batch()), batch()
    for left, right in zip(found._leaves(), b._leaves(), strict=True):
        assert equal(left, of_tensor(right))
    assert equal(found.boxes.lengths, b.boxes.lengths)
    assert found.boxes.lengths.dtype is torch.int64


def test_structure_is_no_value() -> None:
    b = batch()
    assert (b == b).all() is True
    assert allclose(b, b)
    assert equal(b, batch())
    assert not equal(b, b.flip(0))
    assert (b.boxes > -1).all() is True
    assert (b.boxes * 0).any() is False
    assert b.boxes.dtype is torch.float32
    seen = b.named_apply(lambda key, tensor: tensor + (1 if key == "labels" else 0))
    assert equal(seen.targets.rows.labels, b.targets.rows.labels + 1)
    assert equal(seen.boxes.rows, b.boxes.rows)


REFUSED: dict[str, tuple[Callable[[Batch], object], str]] = {
    "sum along the batch": (
        lambda b: b.sum(0),
        "Batch.boxes is Ragged, and its items cannot be reduced; reduce the rows",
    ),
    "sum of all": (lambda b: b.sum(), "Batch.boxes is Ragged, and its items cannot be reduced"),
    "sum of features": (lambda b: b.sum("feature"), "Batch.boxes is Ragged, and its items cannot be"),
    "sum to one tensor": (lambda b: b.sum(reduce=True), "Batch.boxes is Ragged, and its items cannot be"),
    "max along the batch": (lambda b: b.max(0), "Batch.boxes is Ragged, and its items cannot be reduced"),
    "cumsum": (lambda b: b.cumsum(0), "Batch.boxes is Ragged, and its items cannot be"),
    "new_zeros": (lambda b: b.new_zeros(3), "Batch.boxes is Ragged, and its items cannot be created"),
    "pad": (lambda b: b.pad([1, 1]), "Batch.boxes is Ragged, and its items cannot be padded"),
    "a tensor over the batch": (lambda b: b * torch.ones(4), "Batch.boxes is Ragged, so a Tensor over the batch size"),
    "objects of other lengths": (
        lambda b: b + b.flip(0),
        "Batch.boxes: expected items of the same lengths in both, got 3 and 1",
    ),
    "apply to another batch size": (lambda b: b.apply(lambda t: t.sum(0), batch_size=()), "Ragged"),
    "apply to other numbers of rows": (lambda b: b.boxes.apply(lambda t: t[1:]), "the number of rows is 6"),
    "vmap": (lambda b: b.vmap(lambda item: item.image), "Batch.boxes is Ragged, and vmap cannot map"),
    "lengths": (lambda b: setattr(b.boxes, "lengths", torch.ones(4)), "the lengths of a Ragged cannot be set"),
    "another number of rows": (lambda b: setattr(b.boxes, "rows", torch.ones(3, 4)), "Ragged.rows: expected 6 rows"),
    "deriving": (lambda b: type("Boxes", (Ragged,), {}), "Ragged cannot be derived from"),
    "a batch size": (lambda b: setattr(b, "batch_size", ()), ""),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_defined_of_items_of_different_lengths_is_refused_by_name(name: str) -> None:
    call, message = REFUSED[name]
    if not message:
        call(batch())
        return
    with pytest.raises((TypeError, ValueError, AttributeError), match=re.escape(message)):
        call(batch())


def test_items_of_equal_lengths_are_written_in_place() -> None:
    b = batch()
    boxes = b.boxes.rows
    b[[0, 3]] = b[[0, 3]] * 2
    assert b.boxes.rows is boxes
    assert_items(b, [sample(0, 3) * 2, sample(1, 0), sample(2, 2), sample(3, 1) * 2])
    b[2] = b[2] + 1
    assert equal(b[2].targets.rows.labels, torch.arange(2) + 1)


def test_items_of_other_lengths_are_not_written() -> None:
    b = batch()
    with pytest.raises(
        ValueError, match=r"Batch\.boxes: written items: expected items of the same lengths in both, got 3 and 2"
    ):
        b[0] = b[2]


def test_numbers_are_written_into_the_rows_of_items() -> None:
    b = batch()
    b[2] = 7
    b[MASK] = 5
    expected = [sample(0, 3) * 0 + 5, sample(1, 0), sample(2, 2) * 0 + 7, sample(3, 1) * 0 + 5]
    assert_items(b, expected)
    with pytest.raises(TypeError, match=r"Batch\.boxes is Ragged, so a Tensor over the batch size"):
        b[:] = torch.ones(4)


WRONG: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "a tensor for a batch": (
        lambda: torch.rand(2, 3, 4),
        TypeError,
        "Batch.boxes: expected a Ragged or a list of 2 items, each a Tensor whose first dimension is the rows, got a Tensor of "
        "dtype torch.float32 and shape [2, 3, 4]; a padded Tensor becomes one with Ragged.from_padded",
    ),
    "too few": (lambda: [torch.rand(2, 4)], ValueError, "Batch.boxes: expected a list of 2 items, got 1"),
    "no tensor": (
        lambda: [torch.rand(1, 4), 3],
        TypeError,
        "Batch.boxes: item 1: expected a Tensor whose first dimension is the rows, got int 3",
    ),
    "no dimension": (
        lambda: [torch.rand(()), torch.rand(())],
        TypeError,
        "Batch.boxes: item 0: expected a Tensor whose",
    ),
    "another shape": (
        lambda: [torch.rand(1, 4), torch.rand(1, 5)],
        ValueError,
        "Batch.boxes: item 1: expected a shape of ['n', 4] as in item 0, got [1, 5]",
    ),
    "another annotation": (
        lambda: [torch.rand(4, 3), torch.rand(4, 3)],
        ValueError,
        'Batch.boxes: expected Float[Tensor, "n 4"] for each item, got rows of dtype torch.float32 and shape [8, 3]; '
        "transpose items of shape [4, n]",
    ),
    "another dtype": (
        lambda: [torch.ones(1, 4).int(), torch.ones(1, 4).int()],
        ValueError,
        'Batch.boxes: expected Float[Tensor, "n 4"] for each item, got rows of dtype torch.int32',
    ),
    "another batch size": (
        lambda: Ragged(torch.rand(3, 4), [1, 1, 1]),
        ValueError,
        "Batch.boxes: expected items for the batch size [2], got [3]",
    ),
    "another class": (
        lambda: Ragged(Targets(torch.rand(2, 4), torch.ones(2), batch_size=2), [1, 1]),
        TypeError,
        "Batch.boxes: expected Ragged[Tensor], got Ragged[Targets]",
    ),
    "lengths that do not add up": (
        lambda: Ragged(torch.rand(3, 4), [1, 1]),
        ValueError,
        "the lengths add up to 2, and there are 3",
    ),
    "negative lengths": (
        lambda: Ragged(torch.rand(3, 4), [4, -1]),
        ValueError,
        "expected lengths that are not negative",
    ),
    "lengths of floats": (
        lambda: Ragged(torch.rand(3, 4), torch.ones(3)),
        TypeError,
        "expected integers for the lengths",
    ),
    "rows that are no tensor": (
        lambda: Ragged(cast(Any, [1, 2])),
        TypeError,
        "Ragged: expected a Tensor or an object of a TensorClass",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_value_is_refused_with_class_field_item_and_what_was_expected(name: str) -> None:
    make, kind, message = WRONG[name]
    two = batch()[:2]
    with pytest.raises(kind, match=re.escape(message)):
        Batch(two.image, cast(Any, make()), two.targets, batch_size=2)
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


def test_a_field_may_be_none_in_every_object_or_in_none() -> None:
    b = batch().replace(words=None)
    assert Batch.stack([b, b]).words is None
    assert b[1:].words is None and (b * 2).words is None and b.unbind()[0].words is None
    with pytest.raises(TypeError, match=r"Batch\.words: expected a value in every object or in none, 1 of 2 are None"):
        Batch.cat([b, batch()])


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
    assert equal(Batch(b.image, nested, b.targets, batch_size=4).boxes, b.boxes)
    assert equal(Ragged.of(nested), b.boxes)
    with pytest.raises(ValueError, match="ragged dimension is 1, got 2; transpose it"):
        Ragged.of(nested.transpose(1, 2))


def test_what_a_ragged_says_of_its_items() -> None:
    boxes = batch().boxes
    assert boxes.offsets.tolist() == [0, 3, 3, 5, 6]
    assert boxes.item_index.tolist() == [0, 0, 0, 2, 2, 3]
    assert boxes.max_length == 3
    assert [len(rows) for rows in boxes.as_list()] == LENGTHS
    assert boxes.reshape(2, 2).offsets.tolist() == [0, 3, 3, 5, 6]
    assert batch().targets.map_rows(lambda rows: rows.boxes.sum(-1)).lengths.tolist() == LENGTHS
    with pytest.raises(ValueError, match=r"map_rows: expected 6 rows, got 5"):
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
        b.boxes.rows = torch.ones(6, 4)
    frozen = Frozen(batch().boxes, batch_size=4)
    with pytest.raises(AttributeError, match="frozen"):
        frozen.boxes = batch().boxes  # type: ignore[misc]
    with pytest.raises(AttributeError, match="frozen"):
        frozen.boxes.rows = torch.ones(6, 4)
    assert frozen[2:].boxes.lengths.tolist() == [2, 1]


def test_names_of_dimensions_stay() -> None:
    b = batch().refine_names("item")
    assert (b * 2).names == b[1:].names == ("item",)
    assert b.boxes.refine_names("item")[1:].names == ("item",)


def test_nested_objects_and_values_of_items_go_with_the_ragged_ones() -> None:
    b = batch().replace(marks=["a", "b", "c", "d"])
    outer = Outer(b, batch_size=4)
    found = outer[[3, 2]]
    assert_items(found.batch, [sample(3, 1), sample(2, 2)])
    assert found.batch.marks is not None and found.batch.marks.values() == ("d", "c")


def as_pickle(protocol: int) -> Callable[[Batch, Path], Batch]:
    return lambda b, _: pickle.loads(pickle.dumps(b, protocol))


def by_torch_save(b: Batch, _: Path) -> Batch:
    file = io.BytesIO()
    torch.save(b, file)
    with torch.serialization.safe_globals([Batch, Targets]):
        return torch.load(io.BytesIO(file.getvalue()))  # type: ignore[no-any-return]


def by_memory_map(b: Batch, folder: Path) -> Batch:
    b.memmap(folder / "map")
    return Batch.load_memmap(folder / "map")


def by_safetensors(b: Batch, folder: Path) -> Batch:
    b.save_safetensors(folder / "file.safetensors")
    return Batch.load_safetensors(folder / "file.safetensors")


def by_state_dict(b: Batch, _: Path) -> Batch:
    other = b.flip(0)
    other.load_state_dict(b.state_dict())
    return other


def by_tree(b: Batch, _: Path) -> Batch:
    leaves, spec = _pytree.tree_flatten(b)
    return _pytree.tree_unflatten(leaves, spec)  # type: ignore[no-any-return]


SAVED: dict[str, Callable[[Batch, Path], Batch]] = {
    **{f"pickle {protocol}": as_pickle(protocol) for protocol in (2, 4, 5)},
    "torch.save": by_torch_save,
    "memory map": by_memory_map,
    "safetensors": by_safetensors,
    "state_dict": by_state_dict,
    "pytree": by_tree,
    "share_memory_": lambda b, _: b.share_memory_(),
    "tensordict": lambda b, _: Batch.from_tensordict(b.replace(words=None).to_tensordict()).replace(words=b.words),
}


@pytest.mark.parametrize("name", SAVED)
def test_what_is_saved_or_taken_apart_comes_back(name: str, tmp_path: Path) -> None:
    found = SAVED[name](batch(), tmp_path)
    assert type(found.targets) is type(batch().targets)
    assert_items(found, items())
    assert_items(found[[2, 0]], [sample(2, 2), sample(0, 3)])
