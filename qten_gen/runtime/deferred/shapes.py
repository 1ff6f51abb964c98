"""What the result of an operation looks like, without its values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensorMode,
    UnsupportedOperatorException,
)

from ..fake.errors import FakeTensorError
from .overloads import Traits

_NEEDS_VALUES = (DataDependentOutputException, DynamicOutputShapeException, UnsupportedOperatorException)


class NeedsValues(Exception):
    """What an operation returns depends on values, or nothing knows its shape."""

_aten = torch.ops.aten
_FILLING = {
    _aten.fill_.Scalar,
    _aten.normal_.default,
    _aten.uniform_.default,
    _aten.zero_.default,
}
"""Operators that fill the tensor that they are given with numbers."""

_DRAWING = {_aten.normal_.default, _aten.uniform_.default}


def compute_shape(
    mode: FakeTensorMode, func: OpOverload, what: Traits, args: Sequence[object], kwargs: Mapping[str, object]
) -> object:
    """What an operation returns for fake tensors. The commonest ones are not worth a call of the mode.

    Raises:
        NeedsValues: That depends on values.
    """
    if what.returns_self and func in _FILLING:
        tensor = cast(Tensor, args[0])
        if tensor.is_contiguous() and (tensor.is_floating_point() or func not in _DRAWING):
            return tensor
    try:
        return mode.__torch_dispatch__(func, (), args, kwargs)
    except (*_NEEDS_VALUES, FakeTensorError) as error:
        if isinstance(error, _NEEDS_VALUES) or isinstance(error.__context__, _NEEDS_VALUES):
            raise NeedsValues from error
        raise


def fake_like(mode: FakeTensorMode, real: Tensor) -> Tensor:
    """A fake tensor with a storage of its own that looks like a real one."""
    meta = torch.empty_strided(real.size(), real.stride(), dtype=real.dtype, device="meta")
    return mode.fake_tensor_converter.from_meta_and_device(mode, meta, real.device)
