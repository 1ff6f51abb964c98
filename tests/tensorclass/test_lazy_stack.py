"""Objects side by side whose shapes differ."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.data import DataLoader

from qten_gen import LazyStack, TensorClass, Unbatched

from .declared import Batch, Flat, Point, batch, flat, point, tensors


def ragged(*lengths: int) -> LazyStack[Flat]:
    """Objects without batch dimensions whose `x` have the given lengths and two columns."""
    return Flat.lazy_stack([Flat(torch.rand(length, 2), torch.rand(3)) for length in lengths])


def test_a_lazy_stack_holds_the_objects_themselves() -> None:
    first, second = flat(4), flat(4)
    lazy = Flat.lazy_stack([first, second])
    assert lazy.objects == (first, second) or lazy.objects[0] is first
    assert lazy[1] is second
    assert [id(one) for one in lazy] == [id(first), id(second)]
    assert len(lazy) == 2


def test_a_field_is_stacked_when_it_is_read() -> None:
    lazy = Batch.lazy_stack([batch(4), batch(4)])
    assert torch.equal(lazy.get("tokens"), torch.stack([one.tokens for one in lazy]))
    assert torch.equal(lazy.get(("point", "weight")), torch.stack([one.point.weight for one in lazy]))
    lazy[0].point.weight = torch.full((4,), 7.0)
    assert lazy.get(("point", "weight"))[0].tolist() == [7, 7, 7, 7]


def test_shapes_that_differ_are_an_error_that_says_what_to_do() -> None:
    with pytest.raises(
        ValueError,
        match=r"^Flat\.x has the shapes \[2, 2\], \[3, 2\], which are not one; "
        r"read it with as_list=True or as_padded_tensor=True$",
    ):
        ragged(2, 3, 2).get("x")
    assert ragged(2, 3).get("y").shape == (2, 3)


def test_a_list_has_the_tensors_themselves() -> None:
    lazy = ragged(2, 3)
    assert [id(tensor) for tensor in lazy.get("x", as_list=True)] == [id(one.x) for one in lazy]


def test_a_padded_tensor_is_filled_up_behind() -> None:
    lazy = ragged(2, 3, 1)
    padded = lazy.get("x", as_padded_tensor=True, padding_value=-1)
    assert torch.equal(
        padded, torch.nn.utils.rnn.pad_sequence([one.x for one in lazy], batch_first=True, padding_value=-1)
    )


def test_every_dimension_is_padded_and_dtypes_are_promoted() -> None:
    nothing = torch.zeros(())
    whole, half = torch.ones(1, 3, dtype=torch.int64), torch.full((2, 1), 0.5)
    lazy = Flat.lazy_stack([Flat(whole, nothing), Flat(half, nothing)])
    assert lazy.get("x", as_padded_tensor=True).tolist() == [[[1, 1, 1], [0, 0, 0]], [[0.5, 0, 0], [0.5, 0, 0]]]


def test_gradients_flow_through_a_padded_tensor() -> None:
    lazy = ragged(1, 2)
    lazy[0].requires_grad_()
    torch.autograd.backward([lazy.get("x", as_padded_tensor=True).sum()])
    assert torch.equal(lazy[0].x.grad, torch.ones(1, 2))  # type: ignore[arg-type] # it has one now


def test_a_field_that_only_some_objects_have_is_read_as_a_list() -> None:
    lazy = Batch.lazy_stack([batch(4), batch(4, full=False)])
    assert lazy.get("mask", as_list=True) == [lazy[0].mask, None]
    assert lazy.get(("other", "weight"), as_list=True)[1] is None
    with pytest.raises(TypeError, match=r"^Batch\.mask is None in 1 of 2 objects; read it with as_list=True$"):
        lazy.get("mask")
    with pytest.raises(TypeError, match=r"^Batch\.other\.weight is None in 1 of 2 objects; read it with as_list=True$"):
        lazy.get(("other", "weight"))
    padded = lazy.get(("other", "weight"), as_padded_tensor=True)
    assert padded.shape == (2, 4, 2)
    assert padded[1].sum() == 0


def test_what_is_not_a_tensor_is_read_from_the_objects() -> None:
    class Looked(TensorClass):
        x: Tensor
        table: Unbatched[Tensor]

    lazy = Batch.lazy_stack([batch(4), batch(4).replace(source="other")])
    with pytest.raises(
        TypeError,
        match=r"^Batch\.source is not a tensor with the batch dimensions; read it from the objects: "
        r"\[one\.source for one in lazy\]$",
    ):
        lazy.get("source")
    assert [one.source for one in lazy] == ["test", "other"]
    with pytest.raises(TypeError, match=r"^Looked\.table is not a tensor with the batch dimensions"):
        Looked.lazy_stack([Looked(torch.zeros(2), torch.zeros(3))]).get("table")
    with pytest.raises(KeyError, match="Batch has no field 'tokns'; did you mean 'tokens'"):
        lazy.get("tokns")


def test_the_batch_size_is_what_all_objects_share() -> None:
    assert Flat.lazy_stack([flat(4, 2), flat(4, 3)]).batch_size == (2, 4)
    assert Flat.lazy_stack([flat(4), flat(3)]).batch_size == (2,)
    assert ragged(2, 3, 4).batch_size == (3,)


def test_a_slice_gives_a_stack_of_some_objects() -> None:
    lazy = ragged(1, 2, 3)
    assert [id(one) for one in lazy[1:]] == [id(lazy[1]), id(lazy[2])]


@pytest.mark.parametrize("index", [[0, 1], "x", torch.tensor([0]), (slice(None), 0)])
def test_other_indexes_are_refused(index: Any) -> None:
    with pytest.raises(TypeError, match=r"^a LazyStack is indexed with an int or a slice, got .*; make a stack"):
        ragged(1, 2)[index]


def test_objects_are_moved_and_cast_one_by_one() -> None:
    lazy = ragged(2, 3)
    assert lazy.device is None
    assert lazy.to("meta").device == torch.device("meta")
    assert [one.x.dtype for one in lazy.to(torch.float64)] == [torch.float64, torch.float64]


def test_a_dense_object_is_made_where_all_fits() -> None:
    objects = [batch(4), batch(4)]
    lazy = Batch.lazy_stack(objects)
    dense, expected = lazy.dense(), Batch.stack(objects)
    assert dense.batch_size == (2, 4)
    assert all(torch.equal(tensor, tensors(expected)[path]) for path, tensor in tensors(dense).items())
    with pytest.raises(RuntimeError, match=r"Flat\.x"):
        ragged(2, 3).dense()


def test_maybe_dense_stack_is_lazy_only_where_it_has_to_be() -> None:
    assert isinstance(Flat.maybe_dense_stack([flat(4), flat(4)]), Flat)
    assert isinstance(Flat.maybe_dense_stack([flat(4), flat(3)]), LazyStack)
    assert isinstance(Batch.maybe_dense_stack([batch(4), batch(4, full=False)]), LazyStack)


def test_objects_of_one_class_are_needed() -> None:
    mixed: Any = [flat(4), batch(4)]
    with pytest.raises(TypeError, match=r"^LazyStack: expected objects of one TensorClass, got a Flat and a Batch$"):
        Flat.lazy_stack(mixed)
    numbers: Any = [1, 2]
    with pytest.raises(TypeError, match="got int 1 and int 1"):
        LazyStack(numbers)
    with pytest.raises(ValueError, match="^LazyStack: expected at least one object, got none$"):
        Flat.lazy_stack([])


def test_a_lazy_stack_is_copied_pickled_and_a_pytree() -> None:
    lazy = ragged(2, 3)
    for other in (copy.copy(lazy), copy.deepcopy(lazy), pickle.loads(pickle.dumps(lazy))):
        assert [one.x.tolist() for one in other] == [one.x.tolist() for one in lazy]
    assert len(tree_leaves(lazy)) == 4
    assert torch.equal(tree_map(torch.neg, lazy)[1].x, -lazy[1].x)


def test_a_data_loader_collates_what_differs_in_shape() -> None:
    loader = DataLoader([*ragged(1, 2, 3, 4)], batch_size=2, collate_fn=Flat.lazy_stack)  # type: ignore[var-annotated,arg-type] # a list is a dataset
    assert [lazy.get("x", as_padded_tensor=True).shape for lazy in loader] == [(2, 2, 2), (2, 4, 2)]


def test_it_is_shown_with_its_objects() -> None:
    assert repr(ragged(1)).startswith("LazyStack([\n    Flat(\n        x=float32[1, 2],")


class Clip(TensorClass):
    frames: Tensor
    point: Point | None = None
    kind: str = "clip"


def test_objects_of_different_lengths_become_one_with_a_mask() -> None:
    clips = [Clip(torch.ones(n, 2), point(n), batch_size=[n]) for n in (1, 3)]
    padded, mask = Clip.lazy_stack(clips).padded(padding_value=-1)
    assert (padded.batch_size, padded.kind) == ((2, 3), "clip")
    assert mask.tolist() == [[True, False, False], [True, True, True]]
    assert padded.frames[0].tolist() == [[1, 1], [-1, -1], [-1, -1]]
    assert padded.point is not None and padded.point.weight[0, 1:].tolist() == [-1, -1]
    assert padded[mask].batch_size == (4,)


def test_objects_without_a_length_cannot_be_padded() -> None:
    with pytest.raises(ValueError, match="^Flat: objects without batch dimensions have no length to pad to"):
        ragged(1, 2).padded()
