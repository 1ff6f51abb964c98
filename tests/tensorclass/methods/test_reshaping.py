"""Changing the batch shape: what torch does to the leading dimensions of each tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ..declared import Batch, batch


def test_views_share_memory() -> None:
    value = batch(3, 4)
    value.view(12)[0].tokens.fill_(-1)
    assert value.tokens[0, 0].tolist() == [-1, -1, -1]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda b: b.reshape(5), ValueError, r"Batch of batch size \[3, 4\] cannot be reshaped to \[5\]"),
        (lambda b: b.reshape(-1, 5), ValueError, r"cannot be reshaped to \[-1, 5\]"),
        (lambda b: b.reshape(-1, -1), ValueError, r"cannot be reshaped to \[-1, -1\]"),
        (lambda b: b.reshape(-3, -4), ValueError, r"cannot be reshaped to \[-3, -4\]"),
        (lambda b: b.unflatten(0, [2, 2]), ValueError, r"Batch of batch size \[3\] cannot be reshaped to \[2, 2\]"),
        (
            lambda b: b.permute(0),
            ValueError,
            r"permute: expected each of the 2 batch dimensions of Batch once, got \[0\]",
        ),
        (lambda b: b.permute(0, 0), ValueError, "permute"),
        (lambda b: b.transpose(0, 2), IndexError, "dimension 2 is out of range: Batch has 2 batch dimensions"),
        (lambda b: b.unsqueeze(3), IndexError, "unsqueeze: dimension 3 is out of range for 2 batch dimensions"),
        (lambda b: b.squeeze(2), IndexError, "dimension 2 is out of range"),
        (lambda b: b.flatten(1, 0), ValueError, "flatten: start_dim 1 comes after end_dim 0"),
        (lambda b: b.expand(5, 4), ValueError, r"the batch size \[3, 4\] does not broadcast to \[5, 4\]"),
        (lambda b: b.expand(4), ValueError, "does not broadcast"),
    ],
)
def test_a_change_that_does_not_fit_is_refused(
    change: Callable[[Batch], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        change(batch(3, 4))
