"""torch.compile traces the operations of the table into one graph: one of each signature, and all with one of their own."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from qten_gen.runtime.tensorclass.operations.entries import Operation
from qten_gen.runtime.tensorclass.operations.table import OPERATIONS

from .declared import Batch
from .rows import ROWS
from .test_table import arguments, assert_as_expected, objects

UNTRACED = ("repeat_interleave", "detach_")
"""A graph does not know how many items the first one gives, and dynamo traces no view in place."""

TRACED = list(
    {
        operation.form or operation.name: operation
        for operation in OPERATIONS
        if operation.name in ROWS and operation.name not in UNTRACED
    }.values()
)


@pytest.mark.parametrize("operation", TRACED, ids=[operation.name for operation in TRACED])
def test_an_operation_is_traced(operation: Operation) -> None:
    row = ROWS[operation.name]
    value, others = objects(row)
    given = arguments(row, others)
    torch.compiler.reset()

    @torch.compile(backend="eager", fullgraph=True)
    def traced(value: Batch, given: list[Any]) -> Any:
        return operation.method(value, *given, **row.options)

    assert_as_expected(row, value.clone(), others, traced(value, given))


def test_objects_made_on_the_class_are_traced() -> None:
    value, _ = objects(ROWS["sqrt"])

    @torch.compile(backend="eager", fullgraph=True)
    def traced(value: Batch) -> Batch:
        return Batch.stack([Batch.zeros_like(value), Batch.full_like(value, 2)]).flip(0)[0]

    assert torch.equal(traced(value).y, torch.full((2, 3), 2.0))
