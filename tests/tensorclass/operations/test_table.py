"""Every operation of the table is that on every tensor; so are its twin in place and the torch functions that mean it."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from qten_gen import TensorClass
from qten_gen.runtime.tensorclass.operations.entries import Effect, Operation
from qten_gen.runtime.tensorclass.operations.table import OPERATIONS, methods

from .arguments import OTHER, Row
from .declared import Batch, example, integers, tensors
from .rows import ROWS, WITHOUT_ROW

WITH_ROW = [operation for operation in OPERATIONS if operation.name in ROWS]


def names(operations: list[Operation]) -> list[str]:
    return [operation.name for operation in operations]


def objects(row: Row) -> tuple[Batch, list[Batch]]:
    """The object that a row is about, and those among its arguments."""
    make = integers if row.whole else example
    count = sum(argument is OTHER for argument in row.arguments)
    return make(0), [make(seed + 1) for seed in range(count)]


def arguments(row: Row, others: list[Batch]) -> list[Any]:
    rest = iter(others)
    return [next(rest) if argument is OTHER else argument for argument in row.arguments]


def results(got: Any) -> Iterator[Any]:
    """The objects of a result, which may be several."""
    if isinstance(got, TensorClass):
        yield got
    else:
        yield from got


def messages(path: str) -> Callable[[str], str]:
    """What to say of a tensor that is not as expected."""
    return lambda text: f"{path}: {text}"


def assert_as_expected(row: Row, value: Batch, others: list[Batch], got: Any) -> None:
    """Compare each tensor with the same operation on the tensor, and the batch size with that of the row."""
    operands = [tensors(other) for other in others]
    expected = {
        path: row.expected(tensor, *(other[path] for other in operands)) for path, tensor in tensors(value).items()
    }
    single = isinstance(got, TensorClass)
    found = list(results(got))
    for at, item in enumerate(found):
        assert (type(item), item.name, item.none) == (Batch, "test", None)
        if single:
            assert item.batch_size == row.batch_size
        assert item.inner.batch_size == item.batch_size + (() if row.leveled else (5,))
        for path, tensor in tensors(item).items():
            wanted: Tensor = expected[path] if single else expected[path][at]
            torch.testing.assert_close(tensor, wanted, rtol=1e-6, atol=0, equal_nan=True, msg=messages(path))
    if not single:
        assert len(found) == len(expected["x"])


@pytest.mark.parametrize("operation", WITH_ROW, ids=names(WITH_ROW))
def test_an_operation_is_that_on_every_tensor(operation: Operation) -> None:
    row = ROWS[operation.name]
    value, others = objects(row)
    before = value.clone()
    got = operation.method(value, *arguments(row, others), **row.options)
    assert_as_expected(row, before, others, got)


@pytest.mark.parametrize("operation", WITH_ROW, ids=names(WITH_ROW))
def test_an_operation_is_the_same_under_another_default_device(operation: Operation) -> None:
    row = ROWS[operation.name]
    value, others = objects(row)
    before = value.clone()
    with torch.device("meta"):
        got = operation.method(value, *arguments(row, others), **row.options)
    assert_as_expected(row, before, others, got)


# torch's own signature does not take what the row gives.
NARROWER = (torch.true_divide, torch.split_with_sizes, torch.unsafe_split_with_sizes)

# Methods of Tensor among the functions stand for operators whose left operand is a tensor.
TORCH = [
    (operation, function)
    for operation in WITH_ROW
    for function in operation.torch_functions
    if not hasattr(function, "__objclass__") and function not in NARROWER
]


@pytest.mark.parametrize(("operation", "function"), TORCH, ids=[f"{o.name}-{f.__name__}" for o, f in TORCH])
def test_a_torch_function_is_the_method(operation: Operation, function: Any) -> None:
    row = ROWS[operation.name]
    value, others = objects(row)
    given = arguments(row, others)
    first: list[Any] = [value]
    if operation.name == "where":
        first, given = [given[0], value], given[1:]
    assert_as_expected(row, value, others, function(*first, *given, **row.options))


TWINS = [operation for operation in WITH_ROW if operation.is_method and operation.in_place is not None]


@pytest.mark.parametrize("operation", TWINS, ids=names(TWINS))
def test_a_twin_writes_what_the_operation_gives_into_the_same_tensors(operation: Operation) -> None:
    row = ROWS[operation.name]
    value, others = objects(row)
    if operation.name == "__truediv__":
        value, others = value.double(), [other.double() for other in others]
    before, held = value.clone(), tensors(value)
    assert operation.in_place is not None
    got = operation.in_place(value, *arguments(row, others), **row.options)
    assert got is value
    assert all(tensor is held[path] for path, tensor in tensors(value).items())
    assert_as_expected(row, before, others, got)


def test_every_operation_has_a_row() -> None:
    assert {operation.name for operation in OPERATIONS} == {*ROWS, *WITHOUT_ROW}


@pytest.mark.parametrize("operation", WITH_ROW, ids=names(WITH_ROW))
def test_the_table_says_truly_what_becomes_of_the_batch_dimensions(operation: Operation) -> None:
    row = ROWS[operation.name]
    if operation.batch is Effect.KEEPS:
        assert row.batch_size == (2, 3)
    if operation.batch is Effect.DROPS and operation.is_method and not row.options.get("keepdim"):
        assert math.prod(row.batch_size) <= 6


@pytest.mark.parametrize("name", sorted(methods()))
def test_methods_read_well(name: str) -> None:
    """`help(Batch)` shows name, signature and documentation."""
    dir(Batch)
    method: Any = getattr(TensorClass, name)
    assert method.__doc__
    assert method.__module__.startswith("qten_gen.runtime.tensorclass")
    assert inspect.ismethod(method) or next(iter(inspect.signature(method).parameters)) == "self"
