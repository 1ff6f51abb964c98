"""What a program does with deferred tensors beside operations: `tensor.data = other`, `tolist()`, `copy.deepcopy`."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from threading import get_ident
from typing import cast

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from .attributes import own_attributes
from .errors import refused
from .known_tensors import storage_address
from .places import caller
from .recording import Recorder


class PythonFunctions(TorchFunctionMode):
    """Gives functions of torch that are not operations a meaning for deferred tensors, while they are recorded."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self._recorder = recorder

    def __torch_function__(
        self,
        func: Callable[..., object],
        types: Sequence[type],
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        answer = _ANSWERS.get(func)
        if answer is None or self._recorder.working_thread == get_ident():
            return func(*args, **(kwargs or {}))
        if not any(self._recorder.is_mine(value) for value in args[:2]):
            return func(*args, **(kwargs or {}))
        return answer(self._recorder, func, *args, **(kwargs or {}))


def _set_data(recorder: Recorder, func: Callable[..., object], tensor: Tensor, data: Tensor) -> object:
    """`tensor.data = data`. The slot of the tensor is looked up anew when it is used next."""
    if not recorder.is_mine(tensor):
        raise refused("`tensor.data = value`", caller()[0], "the tensor is from outside, and the value is deferred")
    if not recorder.is_mine(data):
        data = recorder.take(data)
    found = func(tensor, data)
    tensor.fake_device = data.fake_device  # type: ignore[attr-defined] # both are fake tensors
    return found


def _tolist(recorder: Recorder, func: Callable[..., object], tensor: Tensor) -> object:
    return recorder.value(tensor).tolist()


def _numpy(recorder: Recorder, func: Callable[..., object], tensor: Tensor, *args: object, **kwargs: object) -> object:
    """An array of the values. It cannot be written to: nothing would write that into the tensor."""
    array = func(recorder.value(tensor).requires_grad_(tensor.requires_grad), *args, **kwargs)
    array.flags.writeable = False  # type: ignore[attr-defined] # an array of numpy, which is not imported here
    return array


def _deepcopy(recorder: Recorder, func: Callable[..., object], tensor: Tensor, memo: dict[object, object]) -> object:
    """What Tensor.__deepcopy__ and Parameter.__deepcopy__ do: views of one storage share it in the copy too."""
    if id(tensor) in memo:
        return memo[id(tensor)]
    if not tensor.is_leaf:
        return func(tensor, memo)  # raises
    with torch.no_grad():
        if isinstance(tensor, nn.Parameter):
            copied: Tensor = nn.Parameter(
                tensor.data.clone(memory_format=torch.preserve_format), tensor.requires_grad
            )
        else:
            copied = _copy_with_storage(tensor, memo)
            copied.requires_grad_(tensor.requires_grad)
            if tensor.grad is not None:
                copied.grad = cast(Tensor, _deepcopy(recorder, func, tensor.grad, memo))
            for name, value in own_attributes(tensor).items():
                setattr(copied, name, copy.deepcopy(value, memo))
    memo[id(tensor)] = copied
    return copied


def _copy_with_storage(tensor: Tensor, memo: dict[object, object]) -> Tensor:
    """The same part of a copy of the whole storage, which is made once."""
    key = ("deferred storage", storage_address(tensor))
    if key not in memo:
        length = tensor.untyped_storage().nbytes() // tensor.element_size()
        memo[key] = tensor.as_strided((length,), (1,), 0).clone()
    storage = cast(Tensor, memo[key])
    return storage.view(tensor.dtype).as_strided(tensor.size(), tensor.stride(), tensor.storage_offset()).detach()


def _refuse(what: str, why: str) -> Callable[..., object]:
    """An answer that raises."""

    def answer(recorder: Recorder, func: Callable[..., object], *args: object, **kwargs: object) -> object:
        raise refused(what, caller()[0], why)

    return answer


_NO_MEMORY = "a deferred tensor has no memory yet"
_NO_SUBCLASS = "the values of a tensor subclass are not recorded"

_ANSWERS: dict[object, Callable[..., object]] = {
    Tensor.data.__set__: _set_data,  # type: ignore[attr-defined] # a getset descriptor
    Tensor.tolist: _tolist,
    Tensor.numpy: _numpy,
    Tensor.__array__: _numpy,
    Tensor.__deepcopy__: _deepcopy,
    Tensor.__dlpack__: _refuse("dlpack", _NO_MEMORY),
    Tensor.as_subclass: _refuse("as_subclass()", _NO_SUBCLASS),
    Tensor.data_ptr: _refuse("data_ptr()", _NO_MEMORY),
    Tensor.pin_memory: _refuse("pin_memory()", _NO_MEMORY),
    Tensor.share_memory_: _refuse("share_memory_()", _NO_MEMORY),
}
