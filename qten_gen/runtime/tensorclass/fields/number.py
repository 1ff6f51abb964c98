"""Fields annotated with a number: what generated code calls for them. They hold tensors."""

from __future__ import annotations

from typing import Any, Literal, cast

import torch
from torch import Size, Tensor

from ..core.error_text import describe, label
from ..core.stored import Stored
from .tensor import tensor

NumberKind = Literal["bool", "int", "float", "complex"]
"""The types that say how a number is stored."""


def number(
    self: Stored, name: str, value: object, batch_size: Size, device: torch.device | None, kind: NumberKind
) -> Tensor:
    """The tensor to store in a field annotated with a number: a number is repeated over the batch.

    Args:
        value: A tensor as for `tensor`, a number, or a number of NumPy.
        kind: The type that the annotation says, which decides the dtype of a number: a 0 in a `float` field is a float.

    Raises:
        TypeError: a number is of a wider type than the annotation: 0.5 in an `int` field, 2 in a `bool` field.
        RuntimeError, OverflowError: a number is too large for the dtype.
    """
    if isinstance(value, Tensor):
        return tensor(self, name, value, batch_size, device)
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = cast(Any, value).item()
    if not isinstance(value, (int, float, complex)):
        return tensor(self, name, value, batch_size, device)
    return torch.full(batch_size, _as_kind(self, name, value, kind), device=device)


def _as_kind(self: Stored, name: str, value: complex, kind: NumberKind) -> complex:
    """A number as the type that an annotation says."""
    if kind == "complex":
        return complex(value)
    if kind == "float" and isinstance(value, (int, float)):
        return float(value)
    if kind == "int" and isinstance(value, int):
        return int(value)
    if kind == "bool" and isinstance(value, int) and value in (0, 1):
        return bool(value)
    raise TypeError(
        f"{label(self, name)}: expected {'an' if kind == 'int' else 'a'} {kind}, got {describe(value)}; "
        "pass a Tensor, or change the annotation"
    )
