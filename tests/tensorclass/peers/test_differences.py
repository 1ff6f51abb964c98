"""Differences from tensordict that `docs/coming-from.md` lists, with what to write instead; errors name the way out."""

from __future__ import annotations

import re

import pytest
import torch
from torch import Tensor

from qten_gen import DeclarationError, TensorClass


class Batch(TensorClass):
    x: Tensor
    source: str = "a"


class Other(TensorClass):
    x: Tensor
    source: str = "a"


def batch(start: float = 0) -> Batch:
    return Batch(torch.arange(12.0).reshape(4, 3) + start, batch_size=[4])


def test_an_object_of_another_class_is_not_equal_and_can_be_converted() -> None:
    other = Other(batch().x, batch_size=[4])
    assert (batch() == other) is False  # type: ignore[operator] # checkers refuse it
    assert (batch() == Batch.from_dict(other.to_dict(), batch_size=other.batch_size)).all()


def test_what_is_no_object_is_written_into_an_items_tensors() -> None:
    value = batch()
    with pytest.raises(ValueError, match="broadcasts over the batch size"):
        value[0] = torch.ones(3)
    with pytest.raises(
        TypeError, match=r"expected Batch, a Tensor or a number, got dict; write into the tensors: batch\.x"
    ):
        value[0] = {"x": torch.ones(3)}  # type: ignore[assignment] # what the error is about
    value.x[0] = torch.ones(3)
    assert value[0].x.tolist() == [1, 1, 1]


@pytest.mark.parametrize("value", [3, 2.5, [1, 2], (1.0,), torch.ones(2).numpy()], ids=str)
def test_a_value_that_could_be_a_tensor_names_the_flag(value: object) -> None:
    class Converting(TensorClass, tensor_only=True):
        x: Tensor

    with pytest.raises(TypeError, match="; tensor_only=True on the class converts numbers, arrays and lists$"):
        Batch(value)  # type: ignore[arg-type] # what the error is about
    assert isinstance(Converting(value).x, Tensor)  # type: ignore[arg-type] # checkers know tensors only


@pytest.mark.parametrize("value", ["text", None, object()], ids=["str", "None", "object"])
def test_a_value_that_cannot_be_a_tensor_does_not(value: object) -> None:
    with pytest.raises(TypeError) as error:
        Batch(value)  # type: ignore[arg-type] # what the error is about
    assert "tensor_only" not in str(error.value)


def test_static_values_that_differ_name_per_item() -> None:
    with pytest.raises(ValueError, match="'a' and 'b'; a PerItem field has a value for each item$"):
        Batch.stack([batch(), batch().replace(source="b")])


@pytest.mark.parametrize(
    ("flag", "advice"),
    [
        ("skip_post_init_on_rebuild", "leave it out; __post_init__ runs in the constructor only"),
        ("cast_filter", "override .to, .float() and the like"),
        ("kw_only", "write field(kw_only=True) for each field"),
    ],
)
def test_a_flag_of_tensordict_has_advice(flag: str, advice: str) -> None:
    with pytest.raises(DeclarationError, match=rf"TensorClass has no flag '{flag}'\n    help: {re.escape(advice)}"):

        class Made(TensorClass, **{flag: len}):
            x: Tensor


def test_a_flag_of_tensordict_in_brackets_has_advice() -> None:
    with pytest.raises(DeclarationError, match="help: leave it out"):

        class Made(TensorClass["skip_post_init_on_rebuild"]):  # type: ignore[type-arg, name-defined] # what the error is about
            x: Tensor
