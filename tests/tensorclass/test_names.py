"""Names of the batch dimensions."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import pytest
import torch

from .declared import Flat, flat


def named(*names: str | None) -> Flat:
    """An object with a batch dimension for each name, of sizes 2, 3, 4 ..."""
    sizes = range(2, 2 + len(names))
    return Flat(torch.zeros(*sizes, 3), torch.zeros(*sizes), batch_size=sizes, names=names)


def test_the_constructor_names_the_batch_dimensions() -> None:
    assert named("time", None).names == ("time", None)
    assert Flat(torch.zeros(2), torch.zeros(2), batch_size=2).names == (None,)
    assert flat().names == ()


def test_names_can_be_set_and_taken_away() -> None:
    value = flat(2, 3)
    value.names = ["time", "row"]
    assert value.names == ("time", "row")
    value.names = None
    assert value.names == (None, None)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (["time"], ValueError, r"^Flat\.names: expected one for each of 2 batch dimensions, got \['time'\]$"),
        (["time", "time"], ValueError, r"^Flat\.names: expected different names, got 'time' twice in"),
        ("time", TypeError, r"^Flat\.names: expected a sequence of str or None, got 'time'; for one dimension write"),
        ([0, 1], TypeError, r"^Flat\.names: expected str or None for each dimension, got 0$"),
    ],
)
def test_names_that_do_not_fit_are_refused(given: Any, error: type[Exception], message: str) -> None:
    value = flat(2, 3)
    with pytest.raises(error, match=message):
        value.names = given
    with pytest.raises(error, match=message):
        Flat(torch.zeros(2, 3), torch.zeros(2, 3), batch_size=[2, 3], names=given)
    assert value.names == (None, None)


def test_a_locked_object_refuses_other_names() -> None:
    value = Flat(torch.zeros(2), torch.zeros(2), batch_size=2, lock=True)
    with pytest.raises(RuntimeError, match="^cannot name the dimensions of a Flat: it is locked"):
        value.names = ["time"]


def test_names_follow_the_batch_size() -> None:
    value = named("time", "row")
    value.batch_size = 2
    shorter = value.names
    value.batch_size = (2, 3)
    assert (shorter, value.names) == (("time",), ("time", None))


def test_copies_and_replacements_keep_names() -> None:
    value = named("time", "row")
    assert pickle.loads(pickle.dumps(value)).names == ("time", "row")
    assert dataclasses.replace(value, x=torch.ones(2, 3)).names == ("time", "row")
    assert value.replace(x=torch.ones(2, 3)).names == ("time", "row")
    assert value.replace(names=None).names == (None, None)
    assert value.replace(batch_size=2).names == (None,)


def test_names_are_shown() -> None:
    assert "names=['time', None]" in repr(named("time", None))
    assert "names" not in repr(flat(2))
