"""Objects in shared memory, and on their way to other processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.multiprocessing as multiprocessing
from torch import Tensor

from qten_gen import TensorClass
from tests import fresh_process
from tests.tensorclass.declared import Batch, Flat, assert_applied, batch, flat, tensors

# The processes of these tests end before anything could wait for a lock that a thread held when they were forked.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


class Note(TensorClass):
    """No tensor at all."""

    text: str


class Fixed(TensorClass, frozen=True):
    """A frozen class."""

    x: Tensor


def test_share_memory_moves_every_tensor_in_place() -> None:
    value = batch(4)
    expected, held = value.clone(), tensors(value)
    assert not value.is_shared()
    assert value.share_memory_() is value
    assert value.is_shared()
    assert_applied(value, expected, lambda tensor: tensor)
    assert all(tensors(value)[path] is tensor for path, tensor in held.items())


def test_every_tensor_is_shared_and_there_is_one_or_the_object_is_not() -> None:
    value = flat(4).share_memory_().unlock_()
    value.x = value.x.clone()
    assert not value.is_shared() and not Note("a").share_memory_().is_shared()
    assert Fixed(torch.zeros(3)).share_memory_().is_shared()


def test_a_shared_object_is_locked() -> None:
    value = flat(4).share_memory_()
    assert value.is_locked
    with pytest.raises(RuntimeError, match=r"cannot assign to Flat\.x"):
        value.x = torch.zeros(4)
    value.x.zero_()
    value[0] = 1


def fill_and_answer(received: Any, answers: Any) -> None:
    value: Batch = received.get()
    value.tokens.fill_(7)
    value.point.weight.fill_(8)
    answers.put((value.source, value.tags, tuple(value.batch_size), value.is_shared()))
    answers.put(Flat(torch.ones(2, 3), torch.zeros(2), batch_size=2))
    received.get()


@pytest.mark.parametrize("method", ["fork", "forkserver"])
def test_a_queue_passes_shared_objects_without_copying_them(method: str) -> None:
    fresh_process.with_torch()
    context: Any = multiprocessing.get_context(method)
    questions, answers = context.Queue(), context.Queue()
    value = batch(4).share_memory_()
    process = context.Process(target=fill_and_answer, args=(questions, answers))
    process.start()
    questions.put(value)
    assert answers.get(timeout=120) == ("test", ["a"], (4,), True)
    assert torch.equal(value.tokens, torch.full((4, 3), 7))
    assert torch.equal(value.point.weight, torch.full((4,), 8.0))
    made: Flat = answers.get(timeout=120)
    questions.put(None)
    process.join()
    assert (type(made), made.batch_size, made.x.sum().item()) == (Flat, (2,), 6)


def test_clones_and_moves_of_a_shared_object_are_their_own() -> None:
    value = flat(4).share_memory_()
    changed: list[Callable[[Flat], Flat]] = [lambda each: each.clone(), lambda each: each.double()]
    for change in changed:
        made = change(value)
        assert (made.is_shared(), made.is_locked) == (False, False)
