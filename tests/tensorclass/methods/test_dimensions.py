"""Which dimensions methods take: those that a tensor of the batch shape takes, with the same errors out of range."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from ..declared import Flat

Call = Callable[[Any, int, int], Any]

MOVING: dict[str, Call] = {
    "squeeze": lambda value, dim, _: value.squeeze(dim),
    "squeeze several": lambda value, dim, _: value.squeeze((dim,)),
    "squeeze none": lambda value, dim, _: value.squeeze(()),
    "torch.squeeze": lambda value, dim, _: torch.squeeze(value, dim),
    "unsqueeze": lambda value, dim, _: value.unsqueeze(dim),
    "flatten": lambda value, dim, _: value.flatten(dim),
    "flatten to": lambda value, dim, _: value.flatten(0, dim),
    "transpose": lambda value, dim, other: value.transpose(dim, other),
    "torch.swapdims": torch.swapdims,
    "movedim": lambda value, dim, other: value.movedim(dim, other),
    "moveaxis several": lambda value, dim, other: torch.moveaxis(value, (dim,), (other,)),
    "flip": lambda value, dim, _: value.flip(dim),
    "flip several": lambda value, dim, _: torch.flip(value, (dim,)),
    "flip none": lambda value, dim, _: value.flip(()),
    "roll": lambda value, dim, _: value.roll(1, dim),
    "stack": lambda value, dim, _: torch.stack([value, value], dim),
}
"""What puts items in other places, and loses none."""

NUMBERS = st.integers(-4, 3)


def pair(size: tuple[int, ...]) -> tuple[Flat, Tensor]:
    """An object, and the tensor of its field that has the batch dimensions only."""
    tensor = torch.arange(float(torch.Size(size).numel())).reshape(size)
    return Flat(torch.stack([tensor, tensor + 0.5], -1), tensor, batch_size=size), tensor


def compare(call: Call, size: tuple[int, ...], dim: int, other: int) -> None:
    """Call it with a tensor and with an object of its shape."""
    value, tensor = pair(size)
    try:
        expected = call(tensor, dim, other)
    except (IndexError, RuntimeError) as error:
        with pytest.raises((type(error), ValueError)):
            call(value, dim, other)
        return
    found = call(value, dim, other)
    assert found.batch_size == expected.shape
    assert torch.equal(found.y, expected)
    assert found.x.shape == (*expected.shape, 2)


@pytest.mark.parametrize("name", MOVING)
@settings(max_examples=40, deadline=None)
@given(size=st.sampled_from([(1,), (3,), (2, 1), (1, 2, 3)]), dim=NUMBERS, other=NUMBERS)
def test_what_moves_items_takes_the_dimensions_of_a_tensor(
    name: str, size: tuple[int, ...], dim: int, other: int
) -> None:
    compare(MOVING[name], size, dim, other)


def test_names_are_kept_where_nothing_is_squeezed() -> None:
    value = pair((1, 3))[0]
    value.names = ["one", "three"]
    assert value.flip(()).names == ("one", "three")
    assert value.squeeze(()).names == ("one", "three")
