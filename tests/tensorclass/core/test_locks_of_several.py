"""Locks of one object in several threads, and of an object and those that hold it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

import pytest

from tests import fresh_process
from tests.tensorclass.declared import batch, flat, point


def in_threads(*programs: Callable[[], None]) -> list[BaseException]:
    """Run each in a thread of its own, and give what went wrong."""
    wrong: list[BaseException] = []

    def run(program: Callable[[], None]) -> None:
        try:
            program()
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=run, args=(program,)) for program in programs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return wrong


def test_threads_lock_one_object_for_their_blocks() -> None:
    value = batch(4)

    def work() -> None:
        for _ in range(200):
            with value.lock_() as same:
                assert same is value and value.is_locked
                time.sleep(0)
                with pytest.raises(RuntimeError, match="is locked"):
                    value.mask = None
                assert value.is_locked

    assert in_threads(*[work] * 8) == []
    assert not value.is_locked and not value.point.is_locked


@pytest.mark.parametrize("ends_first", [False, True])
def test_blocks_of_two_threads_begin_in_another_order_than_they_were_called(ends_first: bool) -> None:
    value = flat(4)
    block = value.lock_()
    begun, done = threading.Event(), threading.Event()

    def work() -> None:
        with value.lock_():
            begun.set()
            done.wait()

    thread = threading.Thread(target=work)
    thread.start()
    begun.wait()
    if ends_first:
        done.set()
        thread.join()
    with block:
        assert value.is_locked
    assert value.is_locked is not ends_first
    done.set()
    thread.join()
    assert not value.is_locked


def test_a_lock_that_another_thread_has_called_for_outlives_a_block() -> None:
    value = flat(4)
    with value.lock_():
        thread = threading.Thread(target=value.lock_)
        thread.start()
        thread.join()
    assert value.is_locked


def test_the_block_of_a_nested_object_ends_with_the_lock_of_its_owner() -> None:
    owner = batch(4).lock_()
    with owner.point.lock_():
        owner.unlock_()
    assert not owner.point.is_locked


def test_the_lock_of_a_nested_object_outlives_that_of_its_owner() -> None:
    owner = batch(4)
    with owner.lock_():
        owner.point.lock_()
    assert owner.point.is_locked and not owner.is_locked


def test_a_block_leaves_the_lock_of_another_owner() -> None:
    shared = point(4)
    first, second = batch(4), batch(4)
    first.point = second.point = shared
    with first.lock_():
        with second.lock_():
            pass
        assert not second.is_locked
        assert shared.is_locked
    assert not shared.is_locked


FORKING = """
import os, signal, threading
from torch import Tensor, zeros
from qten_gen import TensorClass
from qten_gen.runtime.tensorclass.core import locks

class Flat(TensorClass):
    x: Tensor

value = Flat(zeros(2), batch_size=2)

def fork():
    if (pid := os.fork()) == 0:
        signal.alarm(20)
        value.lock_()
        os._exit(7)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))

with locks._mutex:
    thread = threading.Thread(target=fork)
    thread.start()
    thread.join()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no such call on Windows")
def test_a_child_that_is_forked_while_another_thread_locks_can_lock() -> None:
    done = fresh_process.run("-c", FORKING)
    assert (done.stdout, done.stderr) == ("7\n", "")


def test_a_block_may_end_in_another_thread() -> None:
    value = flat(4)
    block = value.lock_()
    block.__enter__()
    assert in_threads(lambda: block.__exit__(None, None, None)) == []
    assert not value.is_locked
