"""Functions of torch that take objects, and DataLoaders that make batches of them."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from ..declared import assert_applied, flat


@pytest.mark.parametrize("name", ["zeros_like", "ones_like", "empty_like", "rand_like", "randn_like"])
def test_torch_makes_objects_like_another(name: str) -> None:
    value, function = flat(4), getattr(torch, name)
    made = function(value, dtype=torch.float64, device="meta")
    assert (made.x.shape, made.x.dtype, made.device) == ((4, 3), torch.float64, torch.device("meta"))
    assert function(value).batch_size == (4,)


def test_full_like_takes_a_value() -> None:
    full: Any = torch.full_like
    value = flat(4)
    assert_applied(full(value, 3), value, lambda tensor: torch.full_like(tensor, 3))


def test_where_with_a_condition_alone_says_what_to_use() -> None:
    where: Any = torch.where
    with pytest.raises(
        TypeError, match=r"^torch\.where with a condition alone is not defined for Flat; use it on one field"
    ):
        where(flat(2))
