"""The rows about operations in docs/differences.md, each with a test."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from .declared import Inner, example, integers, tensors


def test_a_mask_broadcasts_over_the_batch_size() -> None:
    value, mask = example(), torch.tensor([True, False, True])
    assert torch.equal(value.masked_fill(mask, 0).x, value.x.masked_fill(mask[:, None], 0))
    with pytest.raises(ValueError, match="broadcasts over the batch size"):
        value.masked_fill(mask[:2], 0)


def test_atleast_3d_puts_a_dimension_behind_as_torch_does() -> None:
    assert example().atleast_3d().batch_size == (2, 3, 1)


def test_prod_and_quantile_reduce_all_dimensions_that_are_given() -> None:
    value = example()
    torch.testing.assert_close(value.prod((0, 1)).x, value.x.prod(0).prod(0))
    torch.testing.assert_close(value.quantile(0.5, (0, 1)).y, value.y.quantile(0.5))


def test_reduce_takes_fields_of_any_shape() -> None:
    value = example()
    wanted = value.x.sum((0, 2)) + value.y.sum(0) + value.inner.q.sum((0, 2, 3))
    torch.testing.assert_close(value.sum(0, reduce=True), wanted)


def test_keepdim_of_a_reduction_of_everything_leaves_dimensions_of_size_one() -> None:
    assert example().sum(keepdim=True).batch_size == (1, 1)


def test_feature_reduces_the_dimensions_of_nested_objects_too() -> None:
    assert example().sum("feature").inner.q.shape == (2, 3)


def test_min_along_a_dimension_keeps_the_classes() -> None:
    got = example().min(0)
    assert type(got) is not torch.return_types.min  # type: ignore[comparison-overlap] # what torch gives for tensors
    assert [type(found.inner) for found in got] == [Inner, Inner]


def test_fill_takes_a_number_for_all_fields() -> None:
    assert all(bool((tensor == 2).all()) for tensor in tensors(example().fill_(2)).values())


def test_objects_of_two_classes_do_not_mix() -> None:
    other: Any = Inner(torch.ones(2, 3), batch_size=[2, 3])
    with pytest.raises(TypeError, match="expected Batch, a Tensor or a number, got Inner"):
        example().add(other)
    with pytest.raises(TypeError, match="unsupported operand"):
        example() + other


def test_a_comparison_keeps_static_values() -> None:
    assert (example() == example()).name == "test"


def test_repeat_adds_dimensions_in_front() -> None:
    assert example().repeat(2, 1, 1).batch_size == (2, 2, 3)


def test_rounding_has_its_options() -> None:
    value = integers()
    assert torch.equal(value.div(2, rounding_mode="floor").x, value.x // 2)
    assert torch.equal(example().round(decimals=1).x, example().x.round(decimals=1))
