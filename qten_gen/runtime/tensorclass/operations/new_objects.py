"""New objects of the values of another or like it: other dtypes, copies, new tensors of the same shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import torch
from torch import Size, Tensor

from ..core.construction import DeviceLike, as_device
from ..core.sizes import integers
from ..core.stored import Stored
from ..fields.per_item import items_become
from ..methods import moving
from ..methods.joining import of_class
from ..methods.operands import Function, one
from .entries import Effect, Group, Operation, changing, documented, written_out

T = TypeVar("T", bound=Stored)


def _cast(tensor: Tensor, dtype: torch.dtype) -> Tensor:
    return tensor.to(dtype=dtype)


def _casting(name: str, dtype: torch.dtype) -> Operation:
    """An entry for a dtype that every tensor is converted to, or every floating point tensor to another such dtype."""
    of_some = dtype.is_floating_point or dtype.is_complex

    def method(self: T) -> T:
        return moving.to(self, dtype) if of_some else self._map_with(_cast, dtype, self._device)

    doc = f"Floating point tensors as `{dtype}`, the others as they are." if of_some else f"Every tensor as `{dtype}`."
    return Operation(name, doc, documented(method, name, doc), form="cast")


CASTING = (
    _casting("float", torch.float32),
    _casting("double", torch.float64),
    _casting("half", torch.float16),
    _casting("bfloat16", torch.bfloat16),
    _casting("float16", torch.float16),
    _casting("float32", torch.float32),
    _casting("float64", torch.float64),
    _casting("complex64", torch.complex64),
    _casting("complex128", torch.complex128),
    _casting("int", torch.int32),
    _casting("int8", torch.int8),
    _casting("int16", torch.int16),
    _casting("int32", torch.int32),
    _casting("int64", torch.int64),
    _casting("uint8", torch.uint8),
    _casting("bool", torch.bool),
)

GROUP = Group(
    "Dtypes",
    "A floating point dtype is for the floating point tensors only, as in `nn.Module`: indices and masks keep "
    "their dtype. An integer dtype or `bool` is for every tensor.",
    CASTING,
)


@changing
def detach_(self: T) -> T:
    """`detach`, in place."""
    return self._map(Tensor.detach_)


def _clone(input: T, *, memory_format: torch.memory_format = torch.preserve_format) -> T:
    """`torch.clone`, which has an option that the method has not."""
    if memory_format is torch.preserve_format:
        return moving.clone(input)
    return input._map_with(_clone_as, memory_format, input._device)


def _clone_as(tensor: Tensor, memory_format: torch.memory_format) -> Tensor:
    return torch.clone(tensor, memory_format=memory_format)


COPYING = (
    written_out(moving.clone, torch.clone, handler=_clone),
    written_out(moving.detach, torch.detach),
    written_out(detach_, torch.detach_),
    written_out(moving.contiguous),
)

COPYING_GROUP = Group(
    "Copies",
    "Each tensor is copied or shared as torch does it. Static fields are shared.",
    COPYING,
)


Keywords = dict[str, Any]


def _created(self: T, function: Function, size: tuple[int, ...], fill: tuple[object, ...], options: Keywords) -> T:
    """New tensors whose batch size is `size`."""
    stated, found = _options(self, options)
    out = self._rearrange(_create, (function, size, len(self._batch_size), fill, stated), Size(size))
    # `_rearrange` keeps the device of the object.
    return out if found == self._device else out._map_with(_moved, found, found)


@items_become("created")
def _create(tensor: Tensor, argument: tuple[Function, tuple[int, ...], int, tuple[object, ...], Keywords]) -> Tensor:
    function, size, batch_ndim, fill, options = argument
    result: Tensor = function(tensor, (*size, *tensor.shape[batch_ndim:]), *fill, **options)
    return result


def _moved(tensor: Tensor, device: torch.device | None) -> Tensor:
    return tensor if device is None else tensor.to(device)


def _options(self: Stored, options: Keywords) -> tuple[Keywords, torch.device | None]:
    """The options that are stated, and the device of the new object."""
    stated = {name: value for name, value in options.items() if value is not None and value is not False}
    if "device" not in stated:
        return stated, self._device
    stated["device"] = as_device(stated["device"])
    return stated, stated["device"]


def _new(name: str, doc: str, function: Function) -> Operation:
    """`new_zeros` and its like, with another batch size."""

    def method(
        self: T,
        *size: int | Sequence[int],
        dtype: torch.dtype | None = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
    ) -> T:
        options = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
        return _created(self, function, integers(size), (), options)

    return Operation(name, doc, documented(method, name, doc), batch=Effect.REPLACES, form="new")


def new_full(
    self: T,
    size: int | Sequence[int],
    fill_value: complex,
    *,
    dtype: torch.dtype | None = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> T:
    """New tensors full of a number, with the batch size `size`."""
    options = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
    return _created(self, Tensor.new_full, integers((size,)), (fill_value,), options)


def _like(name: str, doc: str, function: Function) -> Operation:
    """`torch.zeros_like` and its kin, also as a method of the class, which is typed."""

    def method(
        cls: type[T],
        input: T,
        *,
        dtype: torch.dtype | None = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
    ) -> T:
        options = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
        return _made_like(function, name, of_class(cls, input), (), options)

    def handler(input: T, **options: Any) -> T:
        return _made_like(function, name, input, (), options)

    return Operation(name, doc, documented(method, name, doc), (function,), handler, form="like", on_class=True)


def full_like(
    cls: type[T],
    input: T,
    fill_value: complex,
    *,
    dtype: torch.dtype | None = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> T:
    """A number in tensors of the same shapes."""
    options = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
    return _made_like(torch.full_like, "full_like", of_class(cls, input), (fill_value,), options)


def _full_like(input: T, fill_value: complex, **options: Any) -> T:
    """`torch.full_like`."""
    return _made_like(torch.full_like, "full_like", input, (fill_value,), options)


def _made_like(function: Function, name: str, input: T, fill: tuple[object, ...], options: Keywords) -> T:
    stated, found = _options(input, options)
    if not fill and not stated:
        return one(input, function, name)
    return input._map_with(_call, (function, fill, stated), found)


def _call(tensor: Tensor, argument: tuple[Function, tuple[object, ...], Keywords]) -> Tensor:
    function, fill, options = argument
    result: Tensor = function(tensor, *fill, **options)
    return result


CREATING = (
    _new("new_zeros", "New tensors of zeros, with another batch size.", Tensor.new_zeros),
    _new("new_ones", "New tensors of ones, with another batch size.", Tensor.new_ones),
    _new("new_empty", "New tensors with anything in them, with another batch size.", Tensor.new_empty),
    Operation("new_full", "New tensors full of a number, with another batch size.", new_full, batch=Effect.REPLACES),
    _like("zeros_like", "Zeros in tensors of the same shapes.", torch.zeros_like),
    _like("ones_like", "Ones in tensors of the same shapes.", torch.ones_like),
    _like("empty_like", "Tensors of the same shapes with anything in them.", torch.empty_like),
    written_out(full_like, torch.full_like, handler=_full_like, form="full like")._replace(on_class=True),
    _like("rand_like", "Random numbers from 0 to 1 in tensors of the same shapes.", torch.rand_like),
    _like("randn_like", "Normally distributed numbers in tensors of the same shapes.", torch.randn_like),
)
