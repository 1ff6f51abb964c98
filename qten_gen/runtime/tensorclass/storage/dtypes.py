"""The dtypes whose elements are plain bytes, and how files and pickles name them."""

from __future__ import annotations

from typing import Final

import torch

_DTYPE_NAMES = (
    "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex32 complex64 complex128 "
    "float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu"
).split()

DTYPES: Final[dict[str, torch.dtype]] = {name: getattr(torch, name) for name in _DTYPE_NAMES if hasattr(torch, name)}
"""Dtypes whose elements are plain bytes, by name."""

PLAIN: Final = frozenset(DTYPES.values())


def dtype_name(dtype: torch.dtype) -> str:
    """`float32` for `torch.float32`."""
    return str(dtype).removeprefix("torch.")
