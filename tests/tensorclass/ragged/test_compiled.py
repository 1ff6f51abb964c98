"""Objects with Ragged fields in compiled and exported code."""

from __future__ import annotations

from typing import Any, cast

import pytest
import torch
from torch import Tensor
from torch._dynamo.testing import CompileCounter
from torch.utils import _pytree

from qten_gen import Ragged

from .declared import Batch, batch, equal, sample


def batches() -> list[Batch]:
    return [Batch.stack([sample(*pair) for pair in enumerate(lengths)]) for lengths in ([3, 0, 2, 1], [1, 2, 2, 0, 4])]


def steps(b: Batch) -> tuple[object, ...]:
    """Something of each kind, in one graph."""
    some = b[[2, 0]]
    return (
        some,
        (b * 2 + 1)[1:],
        b[b.image[:, 0] > 1],
        Batch.cat([some, b]),
        Batch.stack([b, b.flip(0)], 1).transpose(0, 1),
        b.unbind()[2],
        b.where(b > 1, 0),
        b.boxes.reduce("max"),
        b.targets.padded({"labels": -1}, 9),
        b.boxes.mask(9),
        b.targets.map_rows(lambda rows: rows.boxes.sum(-1)).rows,
    )


def assert_same(found: object, expected: object) -> None:
    for left, right in zip(_pytree.tree_leaves(found), _pytree.tree_leaves(expected), strict=True):
        assert left.equal(right)


@pytest.mark.long(60)
def test_a_graph_serves_batches_of_any_lengths() -> None:
    compiled = torch.compile(steps, fullgraph=True, backend="eager", dynamic=True)
    for b in batches():
        assert_same(compiled(b), steps(b))


@pytest.mark.long(10)
def test_no_more_graphs_are_made_than_for_plain_tensors_of_changing_sizes() -> None:
    def step(b: Batch) -> tuple[Tensor, Tensor]:
        return (b * 2)[1:].boxes.reduce("sum"), Batch.cat([b, b]).targets.rows.labels

    def plain(image: Tensor, boxes: Tensor, labels: Tensor) -> tuple[Tensor, ...]:
        return image[1:] * 2, boxes * 2, torch.cat([labels, labels])

    counter, of_plain = CompileCounter(), CompileCounter()
    compiled = torch.compile(step, fullgraph=True, backend=counter)
    compiled_plain = torch.compile(plain, fullgraph=True, backend=of_plain)
    for count in (3, 4, 5, 6):
        b = Batch.stack([sample(at, (at * count) % 5) for at in range(count)])
        assert_same(compiled(b), step(b))
        compiled_plain(b.image, b.boxes.rows, b.targets.rows.labels)
    assert counter.frame_count == of_plain.frame_count


@pytest.mark.long(10)
def test_graphs_compute_gradients_and_refuse_items_of_other_lengths() -> None:
    def loss(b: Batch) -> Tensor:
        return (b[[2, 0]] * 2).boxes.rows.square().sum()

    one, other = batch().requires_grad_(), batch().requires_grad_()
    torch.compile(loss, fullgraph=True, backend="aot_eager", dynamic=True)(one).backward()  # type: ignore[no-untyped-call]
    loss(other).backward()  # type: ignore[no-untyped-call]
    assert equal(cast(Any, one.grad).boxes, cast(Any, other.grad).boxes)
    add = torch.compile(lambda left, right: left + right, fullgraph=True, backend="eager", dynamic=True)
    assert equal(add(batch(), batch()), batch() * 2)
    with pytest.raises(RuntimeError, match=r"Batch\.boxes: expected items of the same lengths"):
        add(batch(), Batch.stack([sample(at, length) for at, length in enumerate([2, 1, 2, 1])]))
    padded = torch.compile(lambda b: b.boxes.padded(length=2), fullgraph=True, backend="eager")
    with pytest.raises(RuntimeError, match=r"Ragged\.padded: an item has more rows than fit the length"):
        padded(batch())
    made = torch.compile(lambda rows, lengths: Ragged(rows, lengths).rows * 2, fullgraph=True, backend="eager")
    with pytest.raises(RuntimeError, match="Ragged: expected lengths of as many rows in all as there are"):
        made(torch.ones(3), torch.tensor([2, 4]))


class Exported(torch.nn.Module):
    """A model of batches."""

    def forward(self, b: Batch) -> tuple[object, ...]:
        return (b * 2).flip(0)[1:], b.boxes.reduce("sum"), b.targets.padded(0, 9)


@pytest.mark.long(20)
def test_a_model_is_exported_for_batches_of_any_size() -> None:
    example, other = batches()
    shapes = cast(Any, torch.export).ShapesCollection()
    for leaf in _pytree.tree_leaves(example):
        shapes[leaf] = {0: torch.export.Dim.AUTO}
    exported = torch.export.export(Exported(), (example,), dynamic_shapes=cast(Any, shapes), strict=False)
    for b in (example, other):
        assert_same(exported.module()(b), Exported()(b))
