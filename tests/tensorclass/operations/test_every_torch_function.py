"""Every function that torch lets other classes take part in is supported, and then tested by a row, or refused with advice."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import get_overridable_functions, get_testing_overrides

from qten_gen.runtime.tensorclass.operations import torch_functions
from qten_gen.runtime.tensorclass.operations.entries import Operation
from qten_gen.runtime.tensorclass.operations.table import OPERATIONS

from .arguments import OTHER, over
from .declared import SIZE, Batch, example, integers, tensors
from .rows import ROWS

REFUSED = r"is not defined for Batch; \w.{10}"


def overridable() -> Iterator[Callable[..., Any]]:
    """The functions and methods of torch, without attributes of tensors."""
    for functions in get_overridable_functions().values():
        yield from (function for function in functions if getattr(function, "__name__", "__get__") != "__get__")


def handler(function: Callable[..., Any]) -> Callable[..., Any] | None:
    found = torch_functions._HANDLERS.get(function)
    return found or torch_functions._METHODS.get(torch_functions._name(function))


def test_a_function_is_supported_or_refused_with_advice() -> None:
    refused = [function for function in overridable() if handler(function) is None]
    assert len(refused) > 500
    for function in refused:
        with pytest.raises(TypeError, match=REFUSED):
            torch_functions.dispatch(Batch, function, (Batch,), (example(),), {})


def test_every_supported_function_is_one_of_the_table() -> None:
    of_table = {function for operation in OPERATIONS for function in operation.torch_functions}
    names = {function.__name__ for function in of_table}
    supported = [function for function in overridable() if handler(function) is not None]
    assert len(supported) > 400
    # A method of Tensor does what the function of its name does.
    assert {function.__name__ for function in supported} - names == set()


def test_no_function_takes_an_object_in_silence() -> None:
    """Called as torch's own tests call them, with an object in the first place and small numbers in the others."""
    silent = []
    for function, override in get_testing_overrides().items():
        parameters = [*inspect.signature(override).parameters.values()]
        if isinstance(function, property) or handler(function) is not None or not parameters:
            continue
        others = [one for one in parameters[1:] if one.default is one.empty and one.kind is one.POSITIONAL_OR_KEYWORD]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = function(example(), *[1] * len(others))
        except Exception:
            continue
        if found is not NotImplemented:
            silent.append(torch_functions._name(function))
    assert silent == []


TWO = [
    operation
    for operation in OPERATIONS
    if operation.name in ROWS
    and operation.form in ("binary", "operator", "comparison", "function of 2")
    and len(ROWS[operation.name].arguments) == 1
    and ROWS[operation.name].arguments[0] is OTHER
]
LEFT = [
    (operation, function)
    for operation in TWO
    for function in operation.torch_functions
    if hasattr(torch, function.__name__) and not hasattr(function, "__objclass__")
]


@pytest.mark.parametrize(("operation", "function"), LEFT, ids=[f"{o.name}-{f.__name__}" for o, f in LEFT])
def test_the_left_operand_may_be_the_tensor(operation: Operation, function: Callable[..., Any]) -> None:
    row = ROWS[operation.name]
    value = integers() if row.whole else example()
    grid = torch.arange(1, 7).reshape(SIZE) if row.whole else torch.arange(1, 7).reshape(SIZE) / 8
    options = {} if function is torch.true_divide else row.options
    method = getattr(Tensor, function.__name__, None)
    for call in (function, method) if method is not None else (function,):
        got = call(grid, value, **options)
        for path, tensor in tensors(value).items():
            wanted = function(over(grid, tensor).expand_as(tensor), tensor, **options)
            torch.testing.assert_close(tensors(got)[path], wanted, equal_nan=True)


def test_functions_of_three_operands_take_the_tensor_first() -> None:
    grid, value = torch.arange(1.0, 7).reshape(SIZE), example()
    calls: list[Callable[[Any, Any], Any]] = [
        lambda one, other: torch.addcmul(one, other, other, value=3),
        lambda one, other: torch.addcdiv(one, other, other + 1),
        lambda one, other: torch.lerp(one, other, 0.25),
        lambda one, other: one.lerp(other, 0.25),
        lambda one, other: torch.clamp(one, other, other + 1),
        lambda one, other: torch.clamp(one, max=other),
        lambda one, other: torch.where(other > 0.5, one, other),
        lambda one, other: torch.where(one > 3, 1.0, other),
        lambda one, other: torch.polygamma(1, other),
    ]
    for call in calls:
        for path, tensor in tensors(value).items():
            wanted = call(over(grid, tensor).expand_as(tensor), tensor)
            torch.testing.assert_close(tensors(call(grid, value))[path], wanted)


def test_a_tensor_does_not_become_an_object_in_place() -> None:
    writes: list[Callable[[Any, Any], object]] = [
        lambda a, b: a.add_(b),
        lambda a, b: a.copy_(b),
        lambda a, b: a.__setitem__(0, b),
    ]
    for write in writes:
        with pytest.raises(TypeError, match=REFUSED):
            write(torch.ones(SIZE), example())


def test_where_with_a_condition_alone_says_what_to_use() -> None:
    where: Any = torch.where
    with pytest.raises(
        TypeError, match=r"^torch\.where with a condition alone is not defined for Batch; use it on one"
    ):
        where(example())


def test_out_and_inplace_are_refused_with_advice() -> None:
    sin: Any = torch.sin
    with pytest.raises(TypeError, match=r"sin: out= is not supported, the result is a new object"):
        sin(example(), out=example())
    relu: Any = functional.relu
    with pytest.raises(
        TypeError, match=r"relu: inplace=True is not supported, the result is a new object; assign that"
    ):
        relu(example(), inplace=True)
    assert relu(example()).batch_size == SIZE
