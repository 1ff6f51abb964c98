"""The class of fake tensors: what they print, what Python sees of their device, and what they refuse."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, cast

import torch
from torch import Tensor, nn
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensor

from .emulated_devices import told
from .errors import has_no_memory

_DEVICE = torch.ops.prim.device.default


class Fake(FakeTensor):
    """A tensor with a shape, strides, a dtype, a device and an autograd history, and without data.

    It is torch's own fake tensor with another face: it prints as documented, it may be on a CUDA device of a machine that has
    none, and what it cannot do says why.
    """

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override] # torch leaves it untyped
        shown = _shown(self)
        return f"Parameter containing:\n{shown}" if isinstance(self, nn.Parameter) else shown

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., object],
        types: Sequence[type],
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        answer = ANSWERS.get(func)
        with torch._C.DisableTorchFunctionSubclass():
            if answer is not None:
                return answer(func, *args, **(kwargs or {}))
            return func(*args, **with_told_device(kwargs))

    @classmethod
    def __torch_dispatch__(  # type: ignore[override] # torch's own annotations of the two classes differ
        cls,
        func: OpOverload,
        types: Sequence[type],
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        """The device for C++; everything else enters the mode of the tensor, as in torch."""
        found = super().__torch_dispatch__(func, types, args, kwargs or {})
        return told(found) if func is _DEVICE and isinstance(found, torch.device) else found

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise has_no_memory("pickling or saving", "save the real model, or save shapes and dtypes")

    def __copy__(self) -> Tensor:
        """Another tensor object for the same values, as copy.copy makes of a real tensor."""
        copied = self.detach().requires_grad_(self.requires_grad)
        vars(copied).update({name: value for name, value in vars(self).items() if name not in vars(copied)})
        return copied


def _shown(tensor: Tensor) -> str:
    """`tensor(..., size=(10,), fake=True)`, with what is not the default."""
    parts = ["...", f"size={tuple(tensor.shape)}"]
    if tensor.dtype != torch.get_default_dtype():
        parts.append(f"dtype={tensor.dtype}")
    if tensor.device.type != "cpu":
        parts.append(f"device='{tensor.device}'")
    if tensor.layout != torch.strided:
        parts.append(f"layout={tensor.layout}")
    if tensor.grad_fn is not None:
        parts.append(f"grad_fn=<{type(tensor.grad_fn).__name__}>")
    elif tensor.requires_grad:
        parts.append("requires_grad=True")
    return f"tensor({', '.join([*parts, 'fake=True'])})"


def with_told_device(kwargs: Mapping[str, object] | None) -> Mapping[str, object]:
    """Keyword arguments with the device that C++ is to be told."""
    if not kwargs or kwargs.get("device") is None:
        return kwargs or {}
    return {**kwargs, "device": _told(kwargs["device"])}


def _told(device: object) -> object:
    """What C++ is told for anything that may name a device; an argument of another kind stays."""
    if isinstance(device, str) and device.startswith("cuda"):
        device = torch.device(device)
    return told(device) if isinstance(device, torch.device) else device


def _to(func: Callable[..., object], tensor: Tensor, *args: object, **kwargs: object) -> object:
    return func(tensor, *map(_told, args), **with_told_device(kwargs))


def _cuda(
    func: Callable[..., object], tensor: Tensor, device: object = None, non_blocking: bool = False, **kwargs: object
) -> object:
    named = torch.device("cuda", device) if isinstance(device, int) else device or torch.device("cuda")
    if torch.cuda.is_available():
        return func(tensor, named, non_blocking, **kwargs)
    return Tensor.to(tensor, _told(named), non_blocking=non_blocking, **kwargs)  # type: ignore[call-overload]


def _get_device(func: Callable[..., object], tensor: Tensor) -> int:
    return -1 if tensor.device.index is None else tensor.device.index


def _repr(func: Callable[..., object], tensor: Tensor, **_: object) -> str:
    return repr(tensor)


def _is_on(kind: str) -> Callable[..., bool]:
    return lambda func, tensor: tensor.device.type == kind


def _refused(what: str, instead: str) -> Callable[..., object]:
    """An answer that raises."""

    def answer(func: Callable[..., object], *args: object, **kwargs: object) -> NoReturn:
        raise has_no_memory(what, instead)

    return answer


_LIBRARIES = ("torch.", "qten_gen.")


def _refused_to_users(what: str, instead: str) -> Callable[..., object]:
    """An answer that raises, except for torch and this package, which compare storages and read no data."""

    def answer(func: Callable[..., object], *args: object, **kwargs: object) -> object:
        if _caller().startswith(_LIBRARIES):
            return func(*args, **kwargs)
        raise has_no_memory(what, instead)

    return answer


def _caller() -> str:
    """The module that called a method of a tensor, past the files of torch that hand the call on."""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_globals.get("__name__") in _HANDING_ON:
        frame = frame.f_back
    return cast(str, frame.f_globals.get("__name__", ""))


_HANDING_ON = {__name__, "torch._tensor", "torch.overrides"}

_NO_ARRAY = "use shape and dtype, or a real tensor"
_NO_ADDRESS = "compare tensors with `is`, or use shape, stride() and storage_offset()"
_NO_PINNING = "pin real tensors, and only on a machine with CUDA; a fake tensor moves at once"
_NO_SHARING = "share real tensors"

ANSWERS: dict[object, Callable[..., object]] = {
    Tensor.to: _to,
    Tensor.cuda: _cuda,
    Tensor.get_device: _get_device,
    torch.get_device: _get_device,
    Tensor.is_cuda.__get__: _is_on("cuda"),  # type: ignore[attr-defined] # a getset descriptor
    Tensor.is_cpu.__get__: _is_on("cpu"),  # type: ignore[attr-defined] # a getset descriptor
    Tensor.__repr__: _repr,
    Tensor.numpy: _refused("numpy()", _NO_ARRAY),
    Tensor.__array__: _refused("numpy.asarray(tensor)", _NO_ARRAY),
    Tensor.__dlpack__: _refused("dlpack", _NO_ARRAY),
    Tensor.__cuda_array_interface__.__get__: _refused("__cuda_array_interface__", _NO_ARRAY),
    Tensor.pin_memory: _refused("pin_memory()", _NO_PINNING),
    Tensor.share_memory_: _refused("share_memory_()", _NO_SHARING),
    Tensor.data_ptr: _refused_to_users("data_ptr()", _NO_ADDRESS),
    Tensor.storage: _refused_to_users("storage()", _NO_ADDRESS),
    Tensor._typed_storage: _refused_to_users("storage()", _NO_ADDRESS),
    Tensor.untyped_storage: _refused_to_users("untyped_storage()", _NO_ADDRESS),
}
"""What a fake tensor answers to functions of torch, which are given; all others are called."""
