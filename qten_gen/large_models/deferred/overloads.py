"""The effects of an ATen operator on its arguments, read from its schema."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor
from torch._ops import OpOverload

from ..fake.tensor_arguments import IS_TRAINING, STATISTICS, UPDATING_STATISTICS


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
    written = tuple(
        (position, argument.name)
        for position, argument in enumerate(schema.arguments)
        if argument.alias_info is not None and argument.alias_info.is_write
    )
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


def tensors(values: Iterable[object]) -> Iterator[Tensor]:
    """The tensors among values, those in lists included."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from tensors(value)
        elif isinstance(value, dict):
            yield from tensors(value.values())


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
