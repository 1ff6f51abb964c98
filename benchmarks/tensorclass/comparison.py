"""Checking that all columns do the same, and then timing them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import exp, log
from typing import Any

from torch import Tensor
from torch.utils._pytree import tree_flatten

from ..timing import Row, time_statements
from .columns import Column, names
from .layouts import Layout
from .operations import IMPORTS, Operation

MEASURE = "by hand"
"""The column that the others are divided by."""


def space(column: Column, layout: Layout, size: tuple[int, int]) -> dict[str, Any]:
    """What the statements name, imports included."""
    found = names(column, layout, size)
    for line in IMPORTS.values():
        exec(line, found)
    found["leaves"], found["spec"] = tree_flatten(found["a"])
    if not column.is_tree:
        found["state"] = found["b"].state_dict()
    return found


def leaves(value: object, layout: Layout, sized: bool) -> Iterator[object]:
    """What is compared of a result: numbers, shapes, dtypes and, where the column has them, batch sizes, in order."""
    if isinstance(value, Tensor):
        yield value.dtype, tuple(value.shape), value.tolist()
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item, layout, sized)
    elif hasattr(value, layout.fields[0]):
        if sized:
            yield tuple(getattr(value, "batch_size", ()))
        for name in layout.tensors:
            yield from leaves(getattr(value, name), layout, sized)
        for name, child in layout.nested.items():
            yield from leaves(getattr(value, name), child, sized)
    else:
        yield value


def result(
    operation: Operation, column: Column, layout: Layout, size: tuple[int, int], sized: bool = True
) -> list[object]:
    """The leaves of what an expression gives, or of the object that a statement changes."""
    found, text = space(column, layout, size), operation.text(layout, column)
    if operation.changes:
        exec(text, found)
        return list(leaves(found[operation.changes], layout, sized))
    return list(leaves(eval(text, found), layout, sized))


def differing(operation: Operation, columns: Iterable[Column], layout: Layout, size: tuple[int, int]) -> list[str]:
    """The columns whose results are not those of the class written by hand. Only a pytree has no batch sizes to compare."""
    hand = next(column for column in columns if column.name == MEASURE)
    expected = {sized: result(operation, hand, layout, size, sized) for sized in (True, False)}
    return [
        column.name
        for column in columns
        if operation.text(layout, column)
        and result(operation, column, layout, size, not column.is_tree) != expected[not column.is_tree]
    ]


def compare(
    operations: Iterable[Operation],
    columns: Sequence[Column],
    layout: Layout,
    size: tuple[int, int],
    checked: tuple[int, int],
    rounds: int,
) -> list[Row]:
    """Check every operation on objects of the size `checked`, then time it on those of `size`.

    Raises `SystemExit` naming the operation and the columns whose results differ from those of the class written by hand.
    """
    rows = []
    for operation in operations:
        wrong = differing(operation, columns, layout, checked) if operation.compared else []
        if wrong:
            raise SystemExit(f"{layout.name}, {operation.name}: other results than {MEASURE}: {', '.join(wrong)}")
        cells = {
            column.name: (operation.text(layout, column), space(column, layout, size))
            for column in columns
            if operation.text(layout, column)
        }
        rows.append(Row(operation.name, time_statements(cells, rounds), f"{operation.limit:.2f}"))
    return rows


def mean_ratio(rows: Iterable[Row], column: str, other: str) -> float:
    """The geometric mean of `column / other` over the rows that have both."""
    ratios = [log(row.seconds[column] / row.seconds[other]) for row in rows if {column, other} <= row.seconds.keys()]
    return exp(sum(ratios) / len(ratios))
