"""Dicts, text, copies and pickles."""

from __future__ import annotations

import copy

import pytest
import torch

from ..declared import Batch, Flat, assert_applied, batch, flat, tensors


def test_from_dict_infers_nothing() -> None:
    assert Flat.from_dict({"x": torch.zeros(4), "y": torch.zeros(4)}).batch_size == ()


def test_from_dict_says_what_it_takes() -> None:
    with pytest.raises(TypeError, match=r"^Flat\.from_dict: expected a mapping of fields to values, got int 1$"):
        Flat.from_dict(1)  # type: ignore[arg-type] # what the test is about


def test_from_dict_refuses_unknown_and_missing_keys() -> None:
    with pytest.raises(TypeError, match=r"Batch\.from_dict: no field 'tokns'; did you mean 'tokens'\?"):
        Batch.from_dict({"tokns": 1})
    with pytest.raises(TypeError, match=r"Batch\.from_dict: missing 'point'"):
        Batch.from_dict({"tokens": torch.zeros(1)})
    with pytest.raises(TypeError, match=r"Point\.from_dict: no field 'wait'"):
        Batch.from_dict({"tokens": torch.zeros(1), "point": {"wait": 1}})


def test_repr_has_a_line_for_each_field() -> None:
    value = batch(4, full=False).to("meta")
    assert (
        repr(value)
        == """\
Batch(
    tokens=int64[4, 3] meta,
    point=Point(
        position=float32[4, 2] meta,
        weight=float32[4] meta,
        batch_size=[4],
        device=meta,
    ),
    mask=None,
    other=None,
    source='test',
    tags=['a'],
    batch_size=[4],
    device=meta,
)"""
    )


def test_clone_copies_every_tensor_and_copy_none() -> None:
    value = flat(4)
    assert value.copy().x is value.x
    assert value.clone().x.data_ptr() != value.x.data_ptr()


def test_deepcopy_shares_nothing() -> None:
    value = batch(4)
    copied = copy.deepcopy(value)
    assert_applied(copied, value, lambda tensor: tensor)
    assert all(tensors(copied)[path] is not tensor for path, tensor in tensors(value).items())
    assert copied.tags is not value.tags


def test_deepcopy_keeps_what_is_shared_shared() -> None:
    value = flat(4)
    first, second = copy.deepcopy([value, value])
    assert first is second
