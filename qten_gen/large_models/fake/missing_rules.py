"""Shapes of results that torch's own rules refuse, though real tensors have them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor

_GROUPED_MM = torch.ops.aten._grouped_mm.default


def rule_for(func: object, args: Sequence[object]) -> Callable[..., Tensor] | None:
    """The function that makes the result of an operation, if torch's rule would refuse it."""
    if func is _GROUPED_MM and cast(Tensor, args[0]).dtype != torch.bfloat16:
        return _grouped_mm
    return None


def _grouped_mm(
    left: Tensor,
    right: Tensor,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: torch.dtype | None = None,
) -> Tensor:
    """The experts of a mixture, in other dtypes than bfloat16, which is all that torch's rule knows."""
    FakeTensor._find_common_device(_GROUPED_MM, [left, right, offs])
    rows = left.size(-2)
    shape: tuple[int, ...]
    if left.dim() == 3 and right.dim() == 3:
        shape = (left.size(0), rows, right.size(-1))
    elif left.dim() == 2 and right.dim() == 2 and offs is not None:
        shape = (offs.size(0), rows, right.size(-1))
    else:
        shape = (rows, right.size(-1))
    return left.new_empty(shape, dtype=out_dtype or left.dtype)
