"""Locks of an object and those that hold it."""

from __future__ import annotations

from ..declared import batch, point


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
