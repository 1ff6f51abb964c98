"""Objects in another place or dtype, copies, and memory that processes share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

import torch
from torch import Tensor
from torch import dtype as Dtype

from ..core.construction import DeviceSpec, as_device, move_without_waiting
from ..core.contents import shallow_copy
from ..core.locks import refuse_if_frozen
from ..core.stored import FROZEN, Stored

T = TypeVar("T", bound=Stored)


if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Target: TypeAlias = "torch.device | str | int | torch.dtype | Tensor | Stored"


@overload
def to(
    self: T,
    device: DeviceSpec | None = None,
    dtype: torch.dtype | None = None,
    non_blocking: bool = False,
    *,
    copy: bool = False,
) -> T: ...
@overload
def to(
    self: T,
    dtype: torch.dtype,
    non_blocking: bool = False,
    *,
    copy: bool = False,
) -> T: ...
@overload
def to(
    self: T,
    other: Tensor | Stored,
    non_blocking: bool = False,
    *,
    copy: bool = False,
) -> T: ...
def to(self: T, *args: Target | bool | None, **options: Any) -> T:
    """A new object on a device, or with another dtype, or with both of another tensor. Tensors that fit already are shared.

    A dtype is that of the floating point tensors, as in `nn.Module.to`; other tensors keep theirs. Of another TensorClass the
    device is taken.

    >>> batch = Batch(torch.zeros(2), torch.ones(2).bool(), batch_size=2)
    >>> half = batch.to("meta", torch.bfloat16)
    >>> half.tokens.dtype, half.mask.dtype, half.device
    (torch.bfloat16, torch.bool, device(type='meta'))

    Args:
        device: Where all tensors go.
        dtype: What the tensors are cast to.
        other: A tensor whose device and dtype are taken, or an object whose device is.
        non_blocking: Do not wait for the copies.
        copy: Copy tensors that fit already too, so that the result shares none with this object.

    Raises:
        TypeError: the dtype is neither floating point nor complex.
    """
    # The usual calls, whose argument alone says what is meant.
    if len(args) == 1 and not options:
        target = args[0]
        if isinstance(target, Dtype):
            return _cast(self, target)
        if isinstance(target, (str, torch.device)):
            return _moved(self, target, False)
    copy = options.pop("copy", False)
    device, dtype, non_blocking = _target(args, options)
    out = shallow_copy(self) if device is None else _moved(self, device, non_blocking)
    if dtype is not None:
        out = _cast(out, dtype)
    return out._zip(_unshared, self) if copy else out  # what was moved or cast is a copy already


def _unshared(tensor: Tensor, before: Tensor) -> Tensor:
    return tensor.clone() if tensor is before else tensor


def _target(
    args: Sequence[Target | bool | None], options: Mapping[str, Target | bool | None]
) -> tuple[DeviceSpec | None, torch.dtype | None, bool]:
    """Device, dtype and `non_blocking` from the arguments of `to`, whose meaning depends on their types."""
    device: DeviceSpec | None = None
    dtype: torch.dtype | None = None
    non_blocking = False
    if options:
        unknown = options.keys() - {"device", "dtype", "other", "non_blocking"}
        if unknown:
            raise TypeError(f"to() got an unexpected keyword argument {min(unknown)!r}")
        args = (*args, *options.values())
    for value in args:
        if isinstance(value, bool):
            non_blocking = value
        elif isinstance(value, Dtype):
            dtype = value
        elif isinstance(value, Tensor):
            device, dtype = value.device, value.dtype
        elif isinstance(value, Stored):
            device = value._device
        elif value is not None:
            device = value  # one that is no device is refused with the others
    return device, dtype, non_blocking


def _moved(self: T, device: DeviceSpec, non_blocking: bool) -> T:
    """A new object on a device, with the same tensors where it is known to be there."""
    found = as_device(device)
    if found == self._device:
        return shallow_copy(self)
    return self._map_with(move_without_waiting if non_blocking else Tensor.to, found, found)


def _cast(self: T, dtype: torch.dtype) -> T:
    """Floating point tensors (and complex ones, where `dtype` is complex) in another dtype, in a new object."""
    if not (dtype.is_floating_point or dtype.is_complex):
        raise TypeError(
            f"{type(self).__name__}.to: expected a floating point or complex dtype, got {dtype}; "
            f"to convert every tensor use .apply(lambda tensor: tensor.to({dtype}))"
        )
    all_cast, changes = True, False
    for leaf in self._leaves():
        old = leaf.dtype
        if old.is_floating_point or (dtype.is_complex and old.is_complex):
            changes = changes or old != dtype
        else:
            all_cast = False
    # `Tensor.type` is `Tensor.to` with nothing but a dtype, which torch need not tell from a device first.
    return (
        self._map_with(Tensor.type if all_cast else _with_dtype, dtype, self._device) if changes else shallow_copy(self)
    )


def _with_dtype(tensor: Tensor, dtype: torch.dtype) -> Tensor:
    casts = tensor.is_floating_point() or (dtype.is_complex and tensor.is_complex())
    return tensor.type(dtype) if casts else tensor


def cpu(self: T, *, non_blocking: bool = False) -> T:
    """The object in main memory; shapes and dtypes stay.

    >>> Batch(torch.zeros(2), batch_size=2).cpu().device
    device(type='cpu')
    """
    return _moved(self, "cpu", non_blocking)


def cuda(self: T, device: DeviceSpec | None = None, non_blocking: bool = False) -> T:
    """The object on a GPU, the current one by default; shapes and dtypes stay.

    Raises:
        RuntimeError, AssertionError: torch finds no GPU, or not this one.
    """
    return to(self, "cuda" if device is None else device, None, non_blocking)


def clone(self: T, recurse: bool = True) -> T:
    """A copy of every tensor. Static values are shared, and with `recurse=False` the tensors too, as by `copy`.

    The copies have the shapes, dtypes and devices of the tensors, and gradients flow through them, as with `Tensor.clone`.
    The result is not locked.

    >>> batch = Batch(torch.arange(2), batch_size=2, lock=True)
    >>> copy = batch.clone()
    >>> copy.tokens[0] = 5
    >>> batch.tokens, copy.is_locked
    (tensor([0, 1]), False)
    """
    return self._map(Tensor.clone) if recurse else shallow_copy(self)


def detach(self: T) -> T:
    """The object with each tensor as `Tensor.detach` gives it: the same memory, without gradient history.

    >>> batch = Batch(torch.zeros(2, requires_grad=True), batch_size=2)
    >>> batch.detach().tokens.requires_grad
    False
    """
    return self._map(Tensor.detach)


def contiguous(self: T) -> T:
    """The object with every tensor contiguous in memory; one that is contiguous already is shared, not copied.

    >>> batch = Batch(torch.zeros(2, 3), batch_size=[2, 3]).transpose(0, 1)
    >>> batch.tokens.is_contiguous(), batch.contiguous().tokens.is_contiguous()
    (False, True)
    """
    return self._map(Tensor.contiguous)


def pin_memory(self: T) -> T:
    """Every tensor in page-locked memory, from which copies to a GPU can be asynchronous. A DataLoader calls it.

    Raises:
        RuntimeError: there is no accelerator.
    """
    return self._map(Tensor.pin_memory)


def record_stream(self: T, stream: torch.cuda.Stream) -> T:
    """Tell the allocator that a stream of a GPU uses the tensors, so that their memory is not used again before it is done."""
    for leaf in self._leaves():
        leaf.record_stream(stream)
    return self


def requires_grad_(self: T, requires_grad: bool = True) -> T:
    """Record gradients for the floating point tensors, in place, or stop it.

    >>> Batch(torch.zeros(2), torch.ones(2).bool(), batch_size=2).requires_grad_().tokens.requires_grad
    True

    Raises:
        FrozenInstanceError: the class is frozen.
    """
    if self._lock is FROZEN or self._nested:
        refuse_if_frozen(self, "change the tensors of")
    leaves = self._leaves()
    try:
        if requires_grad:
            for leaf in leaves:
                leaf.requires_grad_()  # an argument to read takes torch a quarter of the time more
        else:
            for leaf in leaves:
                leaf.requires_grad_(False)
    except RuntimeError:  # one of them holds integers, or something is really wrong, which the same call says again
        for leaf in leaves:
            if leaf.is_floating_point() or leaf.is_complex():
                leaf.requires_grad_(requires_grad)
    return self
