"""A function of tensors applied to every tensor of one object, or of several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypedDict, TypeVar, Unpack, overload

import torch
from torch import Tensor

from ..core.construction import DeviceSpec, as_device
from ..core.contents import allocate_like, nested_objects, tensor_and_nested
from ..core.dimension_names import NamesLike, set_names
from ..core.dimension_names import names as as_names
from ..core.error_text import describe
from ..core.locks import lock, refuse_if_frozen
from ..core.lookup import Key
from ..core.sizes import batch_size as as_batch_size
from ..core.stored import Stored
from ..fields import dicts_and_lists, per_item
from ..fields.dicts_and_lists import unbatched as unbatched_field
from ..fields.tensor import tensor as tensor_field
from .inplace import copy_
from .keys import keys_of_tensors
from .operands import several

T = TypeVar("T", bound=Stored)


class ApplyOptions(TypedDict, total=False):
    """The options of `apply`, which `named_apply` takes too."""

    batch_size: int | Sequence[int] | None
    device: DeviceSpec | None
    names: NamesLike
    inplace: bool
    propagate_lock: bool


@overload
def apply(self: T, fn: Callable[[Tensor], Tensor], **options: Unpack[ApplyOptions]) -> T: ...
@overload
def apply(self: T, fn: Callable[[Tensor, Tensor], Tensor], other: T, /, **options: Unpack[ApplyOptions]) -> T: ...
@overload
def apply(
    self: T, fn: Callable[..., Tensor], other: T, another: T, /, *others: T, **options: Unpack[ApplyOptions]
) -> T: ...
def apply(self: T, fn: Callable[..., Tensor], *others: T, **options: Unpack[ApplyOptions]) -> T:
    """The object with `fn` applied to every tensor.

    >>> batch = Batch(torch.tensor([1.0, 2.0]), batch_size=2)
    >>> batch.apply(torch.square).tokens, batch.apply(torch.maximum, batch * -1).tokens
    (tensor([1., 4.]), tensor([1., 2.]))
    >>> batch.apply(lambda tensor: tensor.sum(0), batch_size=()).tokens
    tensor(3.)

    Args:
        fn: Gets a tensor of shape `[*batch, *event]`, of a field of its own each time, and returns one whose shape starts with
            the batch size. Dtype and device are free.
        others: Objects of the class, whose tensors `fn` gets beside the tensors of this one.
        batch_size: Batch size of the result, where `fn` changes it.
        device: Device of the result, where `fn` changes it.
        names: Names of the result's batch dimensions; None keeps the names where the batch size stays.
        inplace: Write the results into the tensors of this object, as `copy_` does, and return it. A locked one allows that.
        propagate_lock: Lock the result where this object is locked.

    Raises:
        TypeError: `fn` returned no tensor, or the others are of another class.
        ValueError: a result's shape does not start with the batch size, or the others have another one.
    """
    return _applied(self, fn, others, **options)


@overload
def named_apply(
    self: T, fn: Callable[[Key, Tensor], Tensor], *, nested_keys: bool = False, **options: Unpack[ApplyOptions]
) -> T: ...
@overload
def named_apply(
    self: T,
    fn: Callable[[Key, Tensor, Tensor], Tensor],
    other: T,
    /,
    *,
    nested_keys: bool = False,
    **options: Unpack[ApplyOptions],
) -> T: ...
@overload
def named_apply(
    self: T,
    fn: Callable[..., Tensor],
    other: T,
    another: T,
    /,
    *others: T,
    nested_keys: bool = False,
    **options: Unpack[ApplyOptions],
) -> T: ...
def named_apply(
    self: T, fn: Callable[..., Tensor], *others: T, nested_keys: bool = False, **options: Unpack[ApplyOptions]
) -> T:
    """`apply` of a function whose first argument is the name of the field.

    >>> batch = Batch(torch.ones(2), torch.ones(2), batch_size=2)
    >>> batch.named_apply(lambda name, tensor: tensor.bool() if name == "mask" else tensor).mask
    tensor([True, True])

    Args:
        fn: Gets a key and a tensor of shape `[*batch, *event]`, and returns one whose shape starts with the batch size.
        others: Objects of the class, whose tensors `fn` gets behind the tensors of this one.
        nested_keys: Pass the whole key of a field in a nested object, `("point", "weight")`, instead of its last name.
        options: As in `apply`.

    Raises:
        TypeError: `fn` returned no tensor, or the others are of another class.
        ValueError: a result's shape does not start with the batch size, or the others have another one.
    """
    # Primitives come to the tensors in the same order.
    left = iter(keys_of_tensors(self))

    def with_key(*tensors: Tensor) -> Tensor:
        key = next(left)
        return fn(key if nested_keys or isinstance(key, str) else key[-1], *tensors)

    return _applied(self, with_key, others, **options)


def _applied(
    self: T,
    fn: Callable[..., Tensor],
    others: tuple[T, ...],
    *,
    batch_size: int | Sequence[int] | None = None,
    device: DeviceSpec | None = None,
    names: NamesLike = None,
    inplace: bool = False,
    propagate_lock: bool = False,
) -> T:
    """The result of `apply`, with its batch size and device, named, written back or locked."""
    if inplace:
        refuse_if_frozen(self, "write to the tensors of")
    out = _among(self, fn, others) if others else self._map(fn)
    size = self._batch_size if batch_size is None else as_batch_size(batch_size)
    wanted = self._device if device is None else as_device(device)
    # Usual, and cheaper than checking field by field.
    if size == self._batch_size and _fits(out, wanted, len(self._leaves())):
        out._device = wanted
    else:
        out = _checked(self, out, size, wanted)
    if names is not None:
        out._names = as_names(out, names, out._batch_size)
    if inplace:
        copy_(self, out)
        if names is not None:
            set_names(self, names)
        return self
    if propagate_lock and self._lock is not None:
        lock(out)
    return out


def _among(self: T, fn: Callable[..., Tensor], others: tuple[T, ...]) -> T:
    """`fn` applied to every tensor of several objects."""
    for other in others:
        if type(other) is not type(self):
            cls = type(self).__name__
            raise TypeError(f"{cls}.apply: expected {cls}, got {describe(other)}")
    return several(self, fn, others, "apply")


def _fits(out: Stored, device: torch.device | None, count: int | None = None) -> bool:
    """True if all leaves are tensors whose shapes start with the batch size, and on the device.

    Args:
        count: How many leaves there have to be: where a function returns None for a tensor, a field that may be None has no leaf.
    """
    size = out._batch_size
    batch_ndim = len(size)
    fitting = size
    leaves = out._leaves()
    if count is not None and len(leaves) != count:
        return False
    for leaf in leaves:
        if not isinstance(leaf, Tensor) or (device is not None and leaf.device != device):
            return False
        shape = leaf.shape
        if shape != fitting and shape[:batch_ndim] != size:
            return False
        fitting = shape  # most fields have the shape of the one before
    # The leaves of one of the same batch size have just been looked at.
    return not out._nested or all(
        (inner._batch_size == size and not inner._nested) or _fits(inner, device) for inner in nested_objects(out)
    )


def _checked(self: T, out: T, batch_size: torch.Size, device: torch.device | None) -> T:
    """The result of `apply`, with every field checked as on construction."""
    fitted: list[object] = []
    values, static = out._field_values()
    if self.__structure__:  # which has the batch size, and is no result of the function
        rows, before = values[0], self._field_values()[0][0]
        if isinstance(rows, Stored):
            rows = _checked(before, rows, before._batch_size, device)
        return out._assign((rows, *values[1:]), static, batch_size, device)
    for name, before, value in zip(tensor_and_nested(self), self._field_values()[0], values, strict=True):
        if isinstance(value, (dict, list)):
            size = None if name in self._unbatched else batch_size
            check = dicts_and_lists.tensor_dict if isinstance(value, dict) else dicts_and_lists.tensor_list
            fitted.append(check(self, name, value, size, device))
        elif name in self._unbatched and value is not None:
            fitted.append(unbatched_field(self, name, value, device))
        elif name in self._nested and value is not None:
            tail = before._batch_size[len(self._batch_size) :]
            fitted.append(_checked(before, value, batch_size + tail, device))
        else:
            fitted.append(before if before is None else tensor_field(self, name, value, batch_size, device))
    if self._per_item:
        per_item.refuse_unfit(self, batch_size, static)
    made = allocate_like(self)._assign(fitted, static, batch_size, device)
    if batch_size == self._batch_size:
        made._names = self._names
    return made
