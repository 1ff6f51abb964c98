"""The results of functions of torch for fake tensors that C++ would compute wrongly, or that need memory."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, Protocol, cast

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import _disable_current_modes

from .arguments import meant, told
from .refusals import NO_PINNING, has_no_memory, writes_real_tensor

Answer = Callable[..., object]
"""Is called with the function of torch and its arguments."""


class Mode(Protocol):
    """The part of a tensor's mode that is needed here."""

    @property
    def draws_for_nobody(self) -> bool: ...

    def check_use(self, tensor: Tensor, what: str, is_kept: bool) -> None: ...

    def without_memory(self, what: str, instead: str) -> RuntimeError: ...


def mode_of(tensor: FakeTensor) -> Mode:
    return cast(Mode, tensor.fake_mode)


def with_told_device(kwargs: Mapping[str, object] | None) -> Mapping[str, object]:
    """Keyword arguments with the device that C++ is to be told."""
    if not kwargs or kwargs.get("device") is None:
        return kwargs or {}
    return {**kwargs, "device": _told(kwargs["device"])}


def with_named_device(kwargs: Mapping[str, object] | None) -> Mapping[str, object]:
    """Keyword arguments with the kind and the index of a CUDA device, where one of them is left out."""
    if not kwargs or kwargs.get("device") is None:
        return kwargs or {}
    return {**kwargs, "device": _named(kwargs["device"])}


def _named(device: object) -> object:
    """The CUDA device with its index, for `1` and "cuda" too, which C++ asks CUDA about; an argument of another kind stays."""
    if isinstance(device, int) and not isinstance(device, bool) and not torch.cuda.is_available():
        return torch.device("cuda", device)
    if isinstance(device, str) and device.startswith("cuda"):
        device = torch.device(device)
    return meant(device) if isinstance(device, torch.device) else device


def _told(device: object) -> object:
    """The argument for C++ in place of one that may name a device; an argument of another kind stays."""
    device = _named(device)
    return told(device) if isinstance(device, torch.device) else device


def _converted(func: Answer, data: object, *args: object, **kwargs: object) -> object:
    """`torch.as_tensor` and `torch.asarray`, which move a tensor and copy anything else."""
    if isinstance(data, torch.UntypedStorage):
        return on_storage(func, data, *args, **kwargs)
    return func(data, *args, **(with_told_device(kwargs) if isinstance(data, Tensor) else with_named_device(kwargs)))


def on_storage(func: Answer, *args: object, **kwargs: object) -> object:
    """A real tensor on memory that exists, such as a file that safetensors maps: torch refuses storages in a mode."""
    with _disable_current_modes():
        return func(*args, **kwargs)


def _to(func: Answer, tensor: Tensor, *args: object, **kwargs: object) -> object:
    _check_conversion(tensor, "to()")
    return func(tensor, *map(_told, args[:1]), *args[1:], **with_told_device(kwargs))


def _check_conversion(tensor: Tensor, what: str) -> None:
    """Ask the mode of a fake tensor: a conversion that has nothing to do is not an operation."""
    if isinstance(tensor, FakeTensor):
        mode_of(tensor).check_use(tensor, what, is_kept=False)


def _cuda(func: Answer, tensor: Tensor, device: object = None, non_blocking: bool = False, **kwargs: object) -> object:
    if torch.cuda.is_available():
        return func(tensor, device, non_blocking, **kwargs)
    move: Any = Tensor.to
    return move(tensor, _told("cuda" if device is None else device), non_blocking=non_blocking, **kwargs)


def _new_tensor(
    func: Answer,
    tensor: FakeTensor,
    data: object,
    *,
    dtype: torch.dtype | None = None,
    device: object = None,
    requires_grad: bool = False,
) -> Tensor:
    """`tensor.new_tensor(data)`: C++ takes a device that it is told for one whose memory it can copy data into."""
    with tensor.fake_mode:
        made = torch.tensor(data, dtype=dtype or tensor.dtype)
        if tensor.device.type != "cpu" or device is not None:
            empty: Callable[..., Tensor] = tensor.new_empty
            made = empty(made.shape, dtype=made.dtype, **with_told_device({"device": device}))
    return made.requires_grad_(requires_grad)


def _set_data(func: Answer, tensor: FakeTensor, data: Tensor) -> None:
    """`tensor.data = data`, which also moves the tensor to where the data is."""
    mode_of(tensor).check_use(tensor, "`tensor.data = value`", is_kept=False)
    if not isinstance(data, FakeTensor):
        data = tensor.fake_mode.from_tensor(data)
    func(tensor, data)
    tensor.fake_device = data.fake_device


def _set_data_of_real(func: Answer, tensor: Tensor, data: Tensor) -> None:
    """`tensor.data = data` for a real tensor, which would become a meta tensor if the data is fake."""
    if isinstance(data, FakeTensor):
        raise writes_real_tensor("tensor.data = fake", "tensor")
    func(tensor, data)


def _set_grad(func: Answer, tensor: FakeTensor, grad: Tensor | None) -> None:
    mode_of(tensor).check_use(tensor, "`tensor.grad = value`", is_kept=grad is None)
    if grad is not None and grad.device != tensor.device:
        raise RuntimeError(
            f"assigned grad has data located on a different device: expected {tensor.device}, got {grad.device}"
        )
    func(tensor, grad)


def _kept(what: str) -> Answer:
    """The answer of torch, if the mode of the tensor allows what C++ does for it without an operation."""

    def answer(func: Answer, tensor: FakeTensor, *args: object, **kwargs: object) -> object:
        mode_of(tensor).check_use(tensor, what, is_kept=True)
        return func(tensor, *args, **kwargs)

    return answer


def _converting(what: str) -> Answer:
    """The answer of torch, if the mode of the tensor allows a conversion that may have nothing to do."""

    def answer(func: Answer, tensor: Tensor, *args: object, **kwargs: object) -> object:
        _check_conversion(tensor, what)
        return func(tensor, *args, **kwargs)

    return answer


def _get_device(func: Answer, tensor: Tensor) -> int:
    return -1 if tensor.device.index is None else tensor.device.index


def _is_on(kind: str) -> Answer:
    return lambda func, tensor: tensor.device.type == kind


def _is_meta(func: Answer, tensor: FakeTensor) -> object:
    """As torch, except for its initialisers: they draw until the values please them, and need not where there are none."""
    return (_caller() == "torch.nn.init" and mode_of(tensor).draws_for_nobody) or func(tensor)


def _repr(func: Answer, tensor: Tensor, **_: object) -> str:
    return repr(tensor)


def _refused(what: str, instead: str) -> Answer:
    """An answer that raises."""

    def answer(func: Answer, *args: object, **kwargs: object) -> NoReturn:
        raise _without_memory(args, what, instead)

    return answer


def _without_memory(args: Sequence[object], what: str, instead: str) -> RuntimeError:
    """The error of the mode of the tensor, which may know how it gets memory."""
    tensor = args[0] if args else None
    return (
        mode_of(tensor).without_memory(what, instead)
        if isinstance(tensor, FakeTensor)
        else has_no_memory(what, instead)
    )


def _refused_to_users(what: str, instead: str) -> Answer:
    """An answer that raises, except for torch and this package, which compare storages and read no data."""

    def answer(func: Answer, *args: object, **kwargs: object) -> object:
        if _caller().startswith(_LIBRARIES):
            return func(*args, **kwargs)
        raise _without_memory(args, what, instead)

    return answer


def _address(func: Answer, tensor: Tensor) -> int:
    """A number for this package that tells memory apart, and 0 for torch, which then leaves it alone; users get an error."""
    caller = _caller()
    if caller.startswith("torch."):
        return 0
    if caller.startswith("qten_gen."):
        return int(tensor.untyped_storage()._cdata) + int(tensor.storage_offset()) * tensor.element_size()
    raise _without_memory([tensor], "data_ptr()", _NO_ADDRESS)


def _caller() -> str:
    """The module that called a method of a tensor, past the files of torch that hand the call on."""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_globals.get("__name__") in _HANDING_ON:
        frame = frame.f_back
    return cast(str, frame.f_globals.get("__name__", ""))


_LIBRARIES = ("torch.", "qten_gen.")
_HANDING_ON = {__name__, f"{__package__}.fake_tensor", f"{__package__}.context", "torch._tensor", "torch.overrides"}

_NO_ARRAY = "use shape and dtype, or a real tensor"
_NO_ADDRESS = "compare tensors with `is`, or use shape, stride() and storage_offset()"
_NO_SHARING = "share real tensors"


def _getter(name: str) -> object:
    """The function that torch passes when an attribute of a tensor is read."""
    return getattr(Tensor, name).__get__


def _setter(name: str) -> object:
    """The function that torch passes when an attribute of a tensor is assigned."""
    return getattr(Tensor, name).__set__


_MOVES: dict[object, Answer] = {Tensor.to: _to, Tensor.cuda: _cuda}

FOR_REAL_TENSORS: dict[object, Answer] = {
    **_MOVES,
    torch.as_tensor: _converted,
    torch.asarray: _converted,
    _setter("data"): _set_data_of_real,
}
"""The functions for real tensors in a context: they move to devices that do not exist, and their data is never fake."""

ANSWERS: dict[object, Answer] = {
    **_MOVES,
    torch.as_tensor: _converted,
    torch.asarray: _converted,
    Tensor.new_tensor: _new_tensor,
    Tensor.get_device: _get_device,
    torch.get_device: _get_device,
    Tensor.__repr__: _repr,
    _getter("is_cuda"): _is_on("cuda"),
    _getter("is_cpu"): _is_on("cpu"),
    _getter("is_meta"): _is_meta,
    _setter("data"): _set_data,
    _setter("grad"): _set_grad,
    _getter("grad"): _kept("tensor.grad"),
    _setter("requires_grad"): _kept("`tensor.requires_grad = value`"),
    Tensor.requires_grad_: _kept("requires_grad_()"),
    Tensor.register_hook: _kept("register_hook()"),
    Tensor.register_post_accumulate_grad_hook: _kept("register_post_accumulate_grad_hook()"),
    **{getattr(Tensor, name): _converting(f"{name}()") for name in ("float", "half", "double", "bfloat16", "cpu")},
    Tensor.numpy: _refused("numpy()", _NO_ARRAY),
    Tensor.__array__: _refused("numpy.asarray(tensor)", _NO_ARRAY),
    Tensor.__dlpack__: _refused("dlpack", _NO_ARRAY),
    _getter("__cuda_array_interface__"): _refused("__cuda_array_interface__", _NO_ARRAY),
    Tensor.pin_memory: _refused("pin_memory()", NO_PINNING),
    Tensor.share_memory_: _refused("share_memory_()", _NO_SHARING),
    Tensor.data_ptr: _address,
    Tensor.storage: _refused_to_users("storage()", _NO_ADDRESS),
    Tensor._typed_storage: _refused_to_users("storage()", _NO_ADDRESS),
    Tensor.untyped_storage: _refused_to_users("untyped_storage()", _NO_ADDRESS),
}
"""The results for fake tensors of these functions of torch; all others are called."""
