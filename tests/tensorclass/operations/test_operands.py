"""What an operation takes beside the object: objects of its class, numbers, tensors over the batch; what it says of others."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from qten_gen import TensorClass, Unbatched
from qten_gen.runtime.tensorclass.methods.operands import one

from .declared import Batch, Inner, example

fn: Any = torch  # objects in place of tensors


def test_another_operand_is_refused() -> None:
    value: Any = example()
    with pytest.raises(TypeError, match=r"Batch\.where: expected Batch, a Tensor or a number, got str"):
        value.where(torch.tensor(True), "s")


class Mixed(TensorClass):
    """A tensor that takes fractions, and one that does not."""

    share: Tensor
    count: Tensor


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda mixed: fn.bitwise_and(mixed, 1), r"^bitwise_and: Mixed\.share: .*not implemented for 'Float'"),
        (lambda mixed: fn.bitwise_and(mixed, mixed), r"^bitwise_and: Mixed\.share: .*not implemented for 'Float'"),
        (lambda mixed: fn.lerp(mixed, mixed, 0.5), r"^lerp: Mixed\.count: .*not implemented for 'Long'"),
        (lambda mixed: fn.mean(mixed, 0), r"^mean: Mixed\.count: mean\(\): could not infer output dtype"),
        (lambda mixed: Mixed.rand_like(mixed), r"^rand_like: Mixed\.count: .*not implemented for 'Long'"),
    ],
)
def test_the_field_that_torch_refuses_is_named(call: Any, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        call(Mixed(torch.ones(2), torch.ones(2, dtype=torch.long), batch_size=2))


def halved(mixed: Mixed) -> None:
    mixed *= 0.5


def test_the_field_that_torch_refuses_in_place_is_named_and_nothing_is_done_twice() -> None:
    mixed = Mixed(torch.ones(2), torch.ones(2, dtype=torch.long), batch_size=2)
    with pytest.raises(RuntimeError, match=r"^mul_: Mixed\.count: result type Float can't be cast"):
        halved(mixed)
    assert (mixed.share.tolist(), mixed.count.tolist()) == ([0.5, 0.5], [1, 1])


def test_a_lack_of_memory_stays_the_error_that_callers_catch() -> None:
    def refuse(tensor: Tensor) -> Tensor:
        raise torch.OutOfMemoryError("no room")

    with pytest.raises(torch.OutOfMemoryError, match="^no room$"):
        one(example(), refuse, "exp")


class Looked(TensorClass):
    """A batch with a table for all its items."""

    x: Tensor
    table: Unbatched[Tensor]


def test_numbers_apply_to_what_the_batch_does_not_carry_and_tensors_over_the_batch_do_not() -> None:
    value = Looked(torch.ones(2), torch.ones(5), batch_size=2)
    assert torch.equal((value + 1).table, torch.full((5,), 2.0))
    assert torch.equal(fn.sum(value, 0).table, value.table)
    with pytest.raises(TypeError, match=r"Looked\.table is the same for a whole batch"):
        value.where(torch.tensor([True, False]), 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda value: value.repeat(2), "repeat: expected a number for each of the 2 batch dimensions"),
        (lambda value: value.pad((1,)), "pad: expected a pair of numbers for each of at most 2 batch dimensions"),
        (lambda value: value.movedim((0, 1), 0), "movedim: expected as many places as dimensions"),
        (
            lambda value: value.gather(0, torch.tensor([0])),
            r"gather: expected an index of 2 dimensions, got shape \[1\]",
        ),
        (lambda value: value.masked_fill(torch.tensor([True, False]), 0), "broadcasts over the batch size"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(example())


def test_another_class_is_refused_where_an_object_of_the_class_is_asked_for() -> None:
    other: Any = Inner(torch.ones(2), batch_size=2)
    with pytest.raises(TypeError, match="expected Batch, got Inner"):
        Batch.zeros_like(other)


def test_new_objects_may_be_elsewhere() -> None:
    made = example().new_zeros(4, device="meta", dtype=torch.float64)
    assert (made.device, made.inner.device) == (torch.device("meta"), torch.device("meta"))
    assert (made.x.shape, made.x.dtype, made.x.device.type) == ((4, 4), torch.float64, "meta")
