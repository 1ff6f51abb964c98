"""Objects with Ragged fields in compiled and exported code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest
import torch
from torch import Tensor
from torch._dynamo.testing import CompileCounter
from torch.utils import _pytree

from qten_gen import Ragged

from .declared import Batch, batch, equal, sample
from .test_operations import COMPUTING, REARRANGING, TAKING_APART


def batches(kind: str = "required") -> list[Batch]:
    """Two batches of other lengths. Their size is one that every operation of the tables takes."""
    both = [[sample(*pair, kind) for pair in enumerate(lengths)] for lengths in ([3, 0, 2, 1], [1, 2, 5, 4])]
    return [type(made[0]).stack(made) for made in both]


VALUES: dict[str, Callable[[Batch], object]] = {
    "mask of values": lambda b: b[b.image[:, 0] > 1],
    "where a comparison": lambda b: b.where(b > 1, 0),
    "reduce": lambda b: [b.boxes.reduce("max"), b.words.reduce("sum"), b.words.reduce("mean")],
    "padded": lambda b: [b.targets.padded({"labels": -1}, 9), b.boxes.padded(2, 9), b.boxes.mask(9)],
    "map_rows": lambda b: b.targets.map_rows(lambda rows: rows.boxes.sum(-1)).rows,
    "offsets": lambda b: [b.boxes.offsets, b.boxes.item_index],
}
UNTRACED = ("deepcopy", "to_dict and from_dict")
"""What dynamo itself cannot trace."""


def steps(b: Batch) -> dict[str, object]:
    """Every operation of the tables, in one graph."""
    values = VALUES if b.boxes is not None else {}
    tables: list[dict[str, Any]] = [
        {name: row[0] for table in (REARRANGING, TAKING_APART, COMPUTING) for name, row in table.items()},
        values,
    ]
    return {name: fn(b) for table in tables for name, fn in table.items() if name not in UNTRACED}


def assert_same(found: object, expected: object) -> None:
    for left, right in zip(_pytree.tree_leaves(found), _pytree.tree_leaves(expected), strict=True):
        torch.testing.assert_close(left, right, rtol=0, atol=0, equal_nan=True)


@pytest.mark.long(30)
@pytest.mark.parametrize("kind", ["required", "optional", "None"])
def test_a_graph_serves_batches_of_any_lengths(kind: str) -> None:
    compiled = torch.compile(steps, fullgraph=True, backend="eager", dynamic=True)
    for b in batches(kind):
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
    """Does the same."""

    def forward(self, b: Batch) -> dict[str, object]:
        return steps(b)


@pytest.mark.long(30)
@pytest.mark.parametrize("kind", ["required", "optional", "None"])
def test_a_model_is_exported_for_batches_of_any_size(kind: str) -> None:
    example, other = batches(kind)
    shapes = cast(Any, torch.export).ShapesCollection()
    for leaf in _pytree.tree_leaves(example):
        shapes[leaf] = {0: torch.export.Dim.AUTO}
    exported = torch.export.export(Exported(), (example,), dynamic_shapes=cast(Any, shapes), strict=False)
    for b in (example, other):
        assert_same(exported.module()(b), steps(b))
