"""`Batch.accepts`: the features of a data set held against the fields of a class, by shape of objects and not by library."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from jaxtyping import Float, Int
from torch import Tensor

from qten_gen import TensorClass


class Sample(TensorClass):
    tokens: Int[Tensor, "*batch seq"]
    image: Float[Tensor, "*batch 3 h w"]
    mask: Tensor | None = None
    source: str = "web"


def value(dtype: str) -> Any:
    """A `Value` of Hugging Face."""
    return SimpleNamespace(dtype=dtype, id=None)


def several(feature: Any, length: int = -1) -> Any:
    """A `List` of Hugging Face."""
    return SimpleNamespace(feature=feature, length=length)


IMAGE = SimpleNamespace(shape=(3, None, None), dtype="float32")
"""An `Array3D`."""


class Arrow:
    """A schema of Arrow."""

    def __init__(self, **types: Any) -> None:
        self.names = list(types)
        self._types = types

    def field(self, name: str) -> Any:
        return SimpleNamespace(type=self._types[name])


class ListType:
    """A list of Arrow, of fixed size or not."""

    def __init__(self, value_type: Any, list_size: int | None = None) -> None:
        self.value_type = value_type
        self.list_size = list_size

    def __str__(self) -> str:
        return f"list<item: {self.value_type}>"


@pytest.mark.parametrize(
    "features",
    [
        {"tokens": torch.zeros(7, dtype=torch.int32), "image": torch.zeros(3, 4, 4), "source": "book"},
        {"tokens": several(value("int64")), "image": IMAGE, "mask": several(value("bool"))},
        {"tokens": [1, 2, 3], "image": [[[0.5]]] * 3},
        Arrow(tokens=ListType("int64"), image=ListType(ListType(ListType("float")), 3)),
    ],
)
def test_features_that_fit_are_accepted(features: Any) -> None:
    Sample.accepts(features)


@pytest.mark.parametrize(
    ("features", "problem"),
    [
        ({"tokens": [1], "image": IMAGE, "imag": IMAGE}, "it has no field imag; did you mean 'image'?"),
        ({"tokens": [1]}, "image is missing"),
        ({"tokens": [0.5], "image": IMAGE}, "tokens: expected Int, got float32"),
        ({"tokens": value("string"), "image": IMAGE}, "tokens holds tensors, got string"),
        ({"tokens": value("int64"), "image": IMAGE}, "tokens: expected 1 dimensions, seq, got int64[]"),
        ({"tokens": [1], "image": torch.zeros(4, 4, 3)}, "image: expected [3, h, w], got float32[4, 4, 3]"),
        (
            Arrow(tokens=ListType("int64"), image=ListType("double")),
            "image: expected 3 dimensions, 3 h w, got float64[?]",
        ),
    ],
)
def test_what_does_not_fit_is_said(features: Any, problem: str) -> None:
    with pytest.raises(ValueError) as raised:
        Sample.accepts(features)
    assert str(raised.value) == f"Sample.accepts: {problem}"


def test_something_that_says_no_features_is_refused() -> None:
    with pytest.raises(TypeError, match="expected features, a schema or an item, got a int"):
        Sample.accepts(3)
