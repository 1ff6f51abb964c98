"""What an ATen operator does with its arguments, read from its schema; and what its result looks like without its values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import cast

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
    UnsupportedOperatorException,
    in_kernel_invocation_manager,
)

from ..fake.tensor_arguments import IS_TRAINING, STATISTICS, UPDATING_STATISTICS, tensors, written_arguments


@dataclass(frozen=True, slots=True)
class Traits:
    """The effects of an operator.

    written: the position and the name of each argument that it changes.
    statistics: it changes the statistics of a batch norm in training, which its schema does not say.
    returns_self: it returns its first argument, which it changes in place, and its shape and strides stay (`add_`, `normal_`).
    draws: it draws random numbers.
    dtype, device: it makes tensors, and takes these as keyword arguments.
    """

    written: tuple[tuple[int, str], ...]
    statistics: bool
    returns_self: bool
    draws: bool
    dtype: bool
    device: bool

    def changed(self, args: Sequence[object], kwargs: Mapping[str, object]) -> Iterator[Tensor]:
        """The tensors among arguments that a call changes."""
        for position, name in self.written:
            yield from tensors([args[position] if position < len(args) else kwargs.get(name)])
        if self.statistics and args[IS_TRAINING]:
            yield from tensors([args[position] for position, _ in STATISTICS])


_RESHAPING = {
    f"aten::{name}"
    for name in "as_strided_ detach_ resize_ resize_as_ set_ squeeze_ swapaxes_ swapdims_ t_ transpose_ unsqueeze_".split()
}
"""Operators that change the shape, the strides or the storage of the tensor in place."""


@cache
def traits(func: OpOverload) -> Traits:
    """The effects of an operator."""
    schema = func._schema
    written = written_arguments(func)
    named = {argument.name for argument in schema.arguments if argument.kwarg_only}
    in_place = (
        [position for position, _ in written] == [0]
        and schema.name.endswith("_")
        and len(schema.returns) == 1
        and schema.name not in _RESHAPING
        and schema.name.startswith("aten::")
    )
    return Traits(
        written=written,
        statistics=func in UPDATING_STATISTICS,
        returns_self=in_place,
        draws=torch.Tag.nondeterministic_seeded in func.tags,
        dtype="dtype" in named,
        device="device" in named,
    )


@cache
def with_generator(func: OpOverload) -> OpOverload | None:
    """The overload that takes the same arguments and a generator; the operator itself if it does; None if there is none."""
    names = [argument.name for argument in func._schema.arguments]
    if "generator" in names:
        return func
    packet = func.overloadpacket
    for name in packet.overloads():
        overload: OpOverload = getattr(packet, name)
        found = [argument.name for argument in overload._schema.arguments]
        if "generator" in found and [name for name in found if name != "generator"] == names:
            return overload
    return None


_NEEDS_VALUES = (DataDependentOutputException, DynamicOutputShapeException, UnsupportedOperatorException)


class NeedsValues(Exception):
    """The result of an operation depends on values, or nothing knows its shape."""


_CPU = torch.device("cpu")
_META = torch.device("meta")
_ON_CPU = (None, _CPU)
"""The devices that a program gives for a tensor on the CPU."""

_aten = torch.ops.aten
_FILLING = {
    _aten.fill_.Scalar,
    _aten.normal_.default,
    _aten.uniform_.default,
    _aten.zero_.default,
}
"""Operators that fill the tensor that they are given with numbers."""

_DRAWING = {_aten.normal_.default, _aten.uniform_.default}

_MAKING = {
    _aten.empty.memory_format,
    _aten.full.default,
    _aten.ones.default,
    _aten.rand.default,
    _aten.randn.default,
    _aten.zeros.default,
}
"""Operators that make a tensor of a size that they are given."""

_OF_ONE_TENSOR = {
    _aten.clone.default,
    _aten.detach.default,
    _aten.expand.default,
    _aten.select.int,
    _aten.slice.Tensor,
    _aten.t.default,
    _aten.transpose.int,
    _aten.unsqueeze.default,
    _aten.view.default,
}
"""Operators on one tensor whose rules for meta tensors are all that a fake tensor needs: the device stays."""


def compute_shape(
    mode: FakeTensorMode, func: OpOverload, what: Traits, args: Sequence[object], kwargs: Mapping[str, object]
) -> object:
    """The results of an operation on fake tensors. The commonest ones are not worth a call of the mode.

    Raises:
        NeedsValues: That depends on values.
    """
    if what.returns_self and func in _FILLING:
        tensor = cast(Tensor, args[0])
        if tensor.is_contiguous() and (tensor.is_floating_point() or func not in _DRAWING):
            return tensor
    if func in _OF_ONE_TENSOR:
        tensor = cast(FakeTensor, args[0])
        with in_kernel_invocation_manager(mode):
            meta = func(*args, **kwargs)
        return mode.fake_tensor_converter.from_meta_and_device(mode, meta, tensor.fake_device)
    if func in _MAKING and kwargs.get("device") in _ON_CPU and kwargs.get("layout") in (None, torch.strided):
        meta = func(*args, **{**kwargs, "device": _META, "pin_memory": False})
        return mode.fake_tensor_converter.from_meta_and_device(mode, meta, _CPU)
    try:
        return mode.__torch_dispatch__(func, (), args, kwargs)
    except RuntimeError as error:
        # A custom operator without a rule for fake tensors says so in words alone.
        has_no_rule = "There was no fake impl registered" in str(error)
        if has_no_rule or isinstance(error, _NEEDS_VALUES) or isinstance(error.__context__, _NEEDS_VALUES):
            raise NeedsValues from error
        raise


def fake_like(mode: FakeTensorMode, real: Tensor, device: torch.device | None = None) -> Tensor:
    """A fake tensor with a storage of its own that looks like a real one, on the same device if none is given."""
    meta = torch.empty_strided(real.size(), real.stride(), dtype=real.dtype, device="meta")
    return mode.fake_tensor_converter.from_meta_and_device(mode, meta, device or real.device)
