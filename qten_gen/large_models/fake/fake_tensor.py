"""The class of fake tensors, and what they answer where C++ would be wrong or needs memory."""

from __future__ import annotations

import copy
import re
import sys
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any, ClassVar, NoReturn, Protocol, cast

import torch
from torch import Tensor, nn
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.nn.parameter import is_lazy
from torch.utils._python_dispatch import _disable_current_modes

from .arguments import Args, Function, Options, Types, is_called_by, meant, told

_DEVICE = torch.ops.prim.device.default


class FakeTensorError(RuntimeError):
    """Something was asked of a fake tensor that needs its values, its memory, or a device that does not exist."""


def writes_real_tensor(what: str, argument: str) -> FakeTensorError:
    """The error about a real tensor that is to receive the result of fake ones."""
    return FakeTensorError(
        f"{what} would write values of a fake tensor, which has none, into the real tensor given as {argument!r}; "
        "make that tensor in fake mode too, or make the other one outside of it"
    )


class Fake(FakeTensor):
    """A tensor with a shape, strides, a dtype, a device and an autograd history, and without data.

    It is torch's own fake tensor with another face: it prints as documented, it may be on a CUDA device of a machine that has
    none, and what it cannot do says why.
    """

    cls_to_become: ClassVar[type[Tensor]]
    """The class that torch gives to a parameter of a lazy module once it has a shape: this one, if it is fake."""

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override, unused-ignore] # torch gives it no types
        shown = _mode(self).shown(self)
        return f"Parameter containing:\n{shown}" if isinstance(self, nn.Parameter) else shown

    def __format__(self, format_spec: str) -> str:
        """A number in an f-string with a format, `f"{loss:.3f}"`, which needs the value; otherwise as repr."""
        return format(self.item(), format_spec) if format_spec and self.dim() == 0 else format(repr(self), format_spec)

    @classmethod
    def __torch_function__(cls, func: Function, types: Types, args: Args = (), kwargs: Options = None) -> object:
        answer = _ANSWERS.get(func)
        with torch._C.DisableTorchFunctionSubclass():
            if answer is not None:
                return answer(func, *args, **(kwargs or {}))
            try:
                return func(*args, **_with_told_device(kwargs))
            except RuntimeError as error:
                error.args = tuple(_with_meant_devices(part) for part in error.args)
                raise

    @classmethod
    def __torch_dispatch__(  # type: ignore[override] # torch's own annotations of the two classes differ
        cls, func: OpOverload, types: Types, args: Args = (), kwargs: Options = None
    ) -> object:
        """The device for C++; everything else enters the mode of the tensor, as in torch."""
        found = super().__torch_dispatch__(func, types, args, kwargs or {})
        return told(found) if func is _DEVICE and isinstance(found, torch.device) else found

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise _mode(self).without_memory("pickling or saving")

    @property
    def __dict__(self) -> dict[str, object]:  # pyright: ignore[reportGeneralTypeIssues] # swapped by torch
        return cast(dict[str, object], _DICT.__get__(self))

    @__dict__.setter
    def __dict__(self, value: dict[str, object]) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Take the attributes of the tensor that this one is swapped with; what users set stays if a module moves.

        nn.Module moves a fake parameter by swapping, but a real one by setting its data, which leaves its attributes alone.
        """
        _DICT.__set__(self, {**vars(self), **value} if _in_move_of_module() else value)

    def _use_count(self) -> int:
        """As if nothing but an autograd graph refers to the tensor: torch.utils.swap_tensors refuses a tensor with more.

        nn.Module moves a fake parameter by swapping, but a real one by setting its data, whoever refers to it.
        """
        count: int = super()._use_count()  # type: ignore[misc] # torch's annotations leave it out
        return min(count, 2)

    def __copy__(self) -> Tensor:
        """Another tensor object for the same values, as copy.copy makes of a real tensor."""
        copied = self.detach().requires_grad_(self.requires_grad)
        vars(copied).update({name: value for name, value in vars(self).items() if name not in vars(copied)})
        return copied


Fake.cls_to_become = Fake
_DICT = Tensor.__dict__["__dict__"]
with FakeTensorMode():
    _OF_FAKE = frozenset(vars(torch.empty(0))) | {"_is_param", "made_as", "real"}
"""The attributes that torch and this package set on fake tensors."""


def own_attributes(fake: Tensor) -> dict[str, object]:
    """The attributes that the program set on a fake tensor."""
    return {name: value for name, value in vars(fake).items() if name not in _OF_FAKE}


def become_fake(lazy: Tensor, data: Tensor) -> None:
    """Exchange a parameter without a shape for a fake one; references to the object stay valid."""
    is_parameter = isinstance(lazy, nn.Parameter)
    made = nn.Parameter(data, lazy.requires_grad) if is_parameter else data.detach()
    attributes = dict(vars(lazy))
    torch.utils.swap_tensors(lazy, made)  # type: ignore[no-untyped-call] # torch gives it no types
    vars(lazy).update(attributes)


class _Mode(Protocol):
    """The part of a FakeMode that its tensors use."""

    draws_for_nobody: bool

    def without_memory(self, what: str) -> RuntimeError: ...

    def shown(self, tensor: Tensor) -> str: ...


def _mode(tensor: Tensor) -> _Mode:
    return cast(_Mode, tensor.fake_mode)  # type: ignore[attr-defined] # a fake tensor


def _in_move_of_module() -> bool:
    """True if nn.Module swaps a parameter, because it moves: two functions of torch stand between."""
    frame: FrameType | None = sys._getframe(2)
    for _ in range(2):
        frame = frame and frame.f_back
    return frame is not None and frame.f_code is nn.Module._apply.__code__


def _with_meant_devices(text: object) -> object:
    """A message of C++ with the devices that exist for the user."""
    if not isinstance(text, str):
        return text
    return re.sub(r"\bcpu:\d+", lambda found: str(meant(torch.device(found[0]))), text)


# Functions of torch for which fake tensors have results of their own. Each is called with the function and its arguments.


def _deepcopy(func: Function, tensor: FakeTensor, memo: dict[int, object]) -> object:
    """Tensor.__deepcopy__ and Parameter.__deepcopy__ by operations, which a mode may record: views share the copied memory."""
    if id(tensor) in memo:
        return memo[id(tensor)]
    if not tensor.is_leaf:
        raise RuntimeError("Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol")
    with torch.no_grad():
        if isinstance(tensor, nn.Parameter):
            made: Callable[..., Tensor] = vars(tensor).get("made_as", nn.Parameter)
            copied = made(tensor.detach().clone(memory_format=torch.preserve_format), tensor.requires_grad)
        elif tensor.layout != torch.strided:
            copied = tensor.detach().clone().requires_grad_(tensor.requires_grad)
        else:
            # Addresses of C++ objects are none of Python objects that live, so the keys of the memo stay apart.
            storage = tensor.untyped_storage()
            if storage._cdata not in memo:
                length = storage.nbytes() // tensor.element_size()
                memo[storage._cdata] = tensor.as_strided((length,), (1,), 0).clone()
            whole = cast(Tensor, memo[storage._cdata]).view(tensor.dtype)
            copied = whole.as_strided(tensor.size(), tensor.stride(), tensor.storage_offset()).detach()
            copied.requires_grad_(tensor.requires_grad)
            if tensor.grad is not None:
                copied.grad = copy.deepcopy(tensor.grad, memo)
            for name, value in own_attributes(tensor).items():
                setattr(copied, name, copy.deepcopy(value, memo))
    memo[id(tensor)] = copied
    return copied


def with_named_device(
    kwargs: Mapping[str, object] | None, change: Callable[[object], object] | None = None
) -> Mapping[str, object]:
    """Keyword arguments with the kind and the index of a CUDA device, where one of them is left out."""
    if not kwargs or kwargs.get("device") is None:
        return kwargs or {}
    return {**kwargs, "device": (change or _named)(kwargs["device"])}


def _with_told_device(kwargs: Mapping[str, object] | None) -> Mapping[str, object]:
    """Keyword arguments with the device that C++ is to be told."""
    return with_named_device(kwargs, _told)


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


def _converted(func: Function, data: object, *args: object, **kwargs: object) -> object:
    """`torch.as_tensor` and `torch.asarray`, which move a tensor and copy anything else."""
    if isinstance(data, torch.UntypedStorage):
        # Memory that exists, such as a file that safetensors maps: torch refuses storages in a mode.
        with _disable_current_modes():
            return func(data, *args, **kwargs)
    return func(data, *args, **(_with_told_device(kwargs) if isinstance(data, Tensor) else with_named_device(kwargs)))


def _to(func: Function, tensor: Tensor, *args: object, **kwargs: object) -> object:
    return func(tensor, *map(_told, args[:1]), *args[1:], **_with_told_device(kwargs))


def _cuda(
    func: Function, tensor: Tensor, device: object = None, non_blocking: bool = False, **kwargs: object
) -> object:
    if torch.cuda.is_available():
        return func(tensor, device, non_blocking, **kwargs)
    move: Any = Tensor.to
    return move(tensor, _told("cuda" if device is None else device), non_blocking=non_blocking, **kwargs)


def _new_tensor(
    func: Function,
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
            made = empty(made.shape, dtype=made.dtype, **_with_told_device({"device": device}))
    return made.requires_grad_(requires_grad)


def _set_data(func: Function, tensor: Tensor, data: Tensor) -> None:
    """`tensor.data = data`, which also moves a fake tensor to where the data is; a real one would become a meta tensor."""
    if not isinstance(tensor, FakeTensor):
        if not isinstance(data, FakeTensor):
            func(tensor, data)
        elif is_lazy(tensor):
            become_fake(tensor, data)
        else:
            raise writes_real_tensor("tensor.data = fake", "tensor")
        return
    if not isinstance(data, FakeTensor):
        data = tensor.fake_mode.from_tensor(data)
    func(tensor, data)
    tensor.fake_device = data.fake_device


def _get_device(func: Function, tensor: Tensor) -> int:
    return -1 if tensor.device.index is None else tensor.device.index


def _is_on(kind: str) -> Function:
    return lambda func, tensor: tensor.device.type == kind


def _is_meta(func: Function, tensor: FakeTensor) -> object:
    """As torch, except for an initialiser that draws until the values please it, and need not where there are none."""
    return (_mode(tensor).draws_for_nobody and is_called_by(_DRAWING_AGAIN)) or func(tensor)


_DRAWING_AGAIN = (nn.init._no_grad_trunc_normal_.__code__,)
_COMPARING = (nn.RNNBase.flatten_parameters.__code__,)


def _address(func: Function, tensor: Tensor) -> int:
    """An error; 0 for a layer that compares addresses, and then leaves its parameters alone."""
    if is_called_by(_COMPARING):
        return 0
    raise _mode(tensor).without_memory("data_ptr()")


def _refused(what: str) -> Function:
    def answer(func: Function, tensor: Tensor, *args: object, **kwargs: object) -> NoReturn:
        raise _mode(tensor).without_memory(what)

    return answer


def attribute(name: str, access: str = "__get__") -> object:
    """The function that torch passes when an attribute of a tensor is read; with "__set__", when it is assigned."""
    return getattr(getattr(Tensor, name), access)


FOR_REAL_TENSORS: dict[object, Function] = {
    Tensor.to: _to,
    Tensor.cuda: _cuda,
    torch.as_tensor: _converted,
    torch.asarray: _converted,
    attribute("data", "__set__"): _set_data,
}
"""The functions for real tensors in a context: they move to devices that do not exist, and their data is never fake."""

_ANSWERS: dict[object, Function] = {
    **FOR_REAL_TENSORS,
    Tensor.__deepcopy__: _deepcopy,
    Tensor.new_tensor: _new_tensor,
    Tensor.get_device: _get_device,
    torch.get_device: _get_device,
    attribute("is_cuda"): _is_on("cuda"),
    attribute("is_cpu"): _is_on("cpu"),
    attribute("is_meta"): _is_meta,
    Tensor.numpy: _refused("numpy()"),
    Tensor.__array__: _refused("numpy.asarray(tensor)"),
    Tensor.__dlpack__: _refused("dlpack"),
    Tensor.pin_memory: _refused("pin_memory()"),
    Tensor.share_memory_: _refused("share_memory_()"),
    Tensor.data_ptr: _address,
}
"""The results for fake tensors of these functions of torch; all others are called."""
