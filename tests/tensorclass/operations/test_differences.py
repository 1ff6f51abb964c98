"""The rows about operations in docs/coming-from.md, each with a test."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from .declared import Inner, example, tensors

fn: Any = torch  # objects in place of tensors


def test_a_mask_broadcasts_over_the_batch_size() -> None:
    value, mask = example(), torch.tensor([True, False, True])
    assert torch.equal(value.masked_fill(mask, 0).x, value.x.masked_fill(mask[:, None], 0))
    with pytest.raises(ValueError, match="broadcasts over the batch size"):
        value.masked_fill(mask[:2], 0)


def test_fill_takes_a_number_for_all_fields() -> None:
    assert all(bool((tensor == 2).all()) for tensor in tensors(example().fill_(2)).values())


def test_objects_of_two_classes_do_not_mix() -> None:
    other: Any = Inner(torch.ones(2, 3), batch_size=[2, 3])
    with pytest.raises(TypeError, match="expected Batch, a Tensor or a number, got Inner"):
        fn.add(example(), other)
    with pytest.raises(TypeError, match="unsupported operand"):
        example() + other


def test_a_comparison_keeps_static_values() -> None:
    assert (example() == example()).name == "test"


def test_repeat_adds_dimensions_in_front() -> None:
    assert example().repeat(2, 1, 1).batch_size == (2, 2, 3)
