"""Mappings for fields that hold a TensorDict."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tensordict import TensorDict

from qten_gen import TensorClass


class Cast(TensorClass, autocast=True):
    td: TensorDict


class OnlyTensors(TensorClass, tensor_only=True):
    td: TensorDict


class Strict(TensorClass):
    td: TensorDict


@pytest.mark.parametrize("cls", [Cast, OnlyTensors])
def test_a_class_that_converts_makes_a_tensordict_of_a_mapping(cls: Any) -> None:
    values = {"a": torch.ones(2), "deep": {"c": [1, 2]}}
    batch = cls(values, batch_size=2)

    assert isinstance(batch.td, TensorDict)
    assert batch.td.batch_size == batch.td["deep"].batch_size == torch.Size([2])
    assert (batch == cls.from_dict({"td": values}, batch_size=2)).all()
    batch.td = {"a": torch.zeros(2)}
    assert batch.td["a"].sum() == 0


@pytest.mark.parametrize("cls", [Cast, OnlyTensors])
def test_a_mapping_of_another_batch_size_is_refused_with_the_name_of_the_field(cls: Any) -> None:
    with pytest.raises(ValueError, match=rf"^{cls.__name__}\.td: batch dimension mismatch"):
        cls({"a": torch.ones(3)}, batch_size=2)


def test_a_class_that_converts_nothing_refuses_a_mapping() -> None:
    with pytest.raises(TypeError, match=r"^Strict\.td: expected a TensorDict, got a dict"):
        Strict({"a": torch.ones(2)}, batch_size=2)  # type: ignore[arg-type] # refused
