"""Functions that a program calls on fake tensors beside operations: `tensor.data = other`, `tolist()`, `copy.deepcopy`."""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable, Mapping, Sequence
from threading import get_ident
from typing import cast

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.nn.parameter import is_lazy
from torch.overrides import TorchFunctionMode

from ..fake.answers import on_storage
from ..fake.arguments import tensors
from ..fake.context import become_fake
from .errors import refused
from .recording import Recorder

with FakeTensorMode():
    _OF_FAKE = frozenset(vars(torch.empty(0))) | {"_is_param", "real"}
"""The attributes that torch sets on every fake tensor."""


def own_attributes(fake: Tensor) -> dict[str, object]:
    """The attributes that the program set on a fake tensor."""
    return {name: value for name, value in vars(fake).items() if name not in _OF_FAKE}


_PYTHON = torch._C.DispatchKey.Python
_NO_DATA = ("but its data is not allocated yet", "Cannot access data pointer of Tensor")
"""C++'s messages about a fake tensor whose memory it was going to read."""


class PythonFunctions(TorchFunctionMode):
    """Gives functions of torch that are not operations a meaning for fake tensors, while they are recorded."""

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
        kwargs = kwargs or {}
        name = getattr(func, "__name__", func)
        is_off = torch._C._dispatch_tls_is_dispatch_key_excluded(_PYTHON)
        if (
            is_off
            and name != "__get__"
            and any(isinstance(each, FakeTensor) for each in tensors((*args, *kwargs.values())))
        ):
            # Kernels would run on the memory that fake tensors do not have.
            raise refused(
                f"{name} on a deferred tensor",
                "modes are switched off there, so nothing would fill it",
                "leave them on",
            )
        if func is torch.asarray and args and isinstance(args[0], torch.UntypedStorage):
            return on_storage(func, *args, **kwargs)
        answer = _ANSWERS.get(func) if self._recorder.working_thread != get_ident() else None
        if answer is not None and any(map(self._recorder.is_mine, tensors((*args[:2], kwargs.get("data"))))):
            return answer(self._recorder, func, *args, **kwargs)
        try:
            return func(*args, **kwargs)
        except RuntimeError as error:
            if not any(said in str(error) for said in _NO_DATA):
                raise
            why = "torch runs it on memory, and has no rule for fake tensors"
            raise refused(name, why, "call it outside, and pass in what it gives") from error


def _set_data(recorder: Recorder, func: Callable[..., object], tensor: Tensor, data: Tensor) -> None:
    """`tensor.data = data`, of which no operation is seen."""
    if is_lazy(tensor):
        become_fake(tensor, data)
        return
    what = "`tensor.data = value`"
    if not recorder.is_mine(tensor):
        raise refused(what, "the tensor is from outside, and the value is not there yet")
    if not recorder.is_mine(data):
        data = recorder.constant(data, None if data.is_inference() else data._version)
    if data.is_conj() or data.is_neg():
        # Nothing says afterwards that the memory is read otherwise.
        instead = "take value.resolve_conj() or value.resolve_neg()"
        raise refused(what, "the value is a conjugate view", instead)
    alias = data.detach()
    func(tensor, data)
    tensor.fake_device = data.fake_device  # type: ignore[attr-defined] # both are fake tensors
    recorder.now_is(tensor, alias)


def _numpy(recorder: Recorder, func: Callable[..., object], tensor: Tensor, *args: object, **kwargs: object) -> object:
    """An array of the values, which follows changes of the tensor. It cannot be written to: the tensor would not follow."""
    values = recorder.value(tensor).requires_grad_(tensor.requires_grad)
    array = func(values, *args, **kwargs)
    array.flags.writeable = False  # type: ignore[attr-defined] # an array of numpy, which is not imported here
    recorder.arrays.append((weakref.ref(array), values, recorder.slot(tensor)))
    return array


def _new_tensor(
    recorder: Recorder,
    func: Callable[..., object],
    tensor: Tensor,
    data: object,
    *,
    dtype: torch.dtype | None = None,
    device: torch.device | str | int | None = None,
    requires_grad: bool = False,
) -> object:
    """`tensor.new_tensor(data)`: fake tensors answer it in their own mode, where nothing is recorded."""
    device = tensor.device if device is None else device
    return torch.tensor(
        _with_numbers(recorder, data), dtype=dtype or tensor.dtype, device=device, requires_grad=requires_grad
    )


def _from_data(
    recorder: Recorder, func: Callable[..., object], data: object, *args: object, **kwargs: object
) -> object:
    """`torch.tensor(data)` and its like."""
    return func(_with_numbers(recorder, data), *args, **kwargs)


def _with_numbers(recorder: Recorder, data: object) -> object:
    """The data of a tensor, with numbers in place of tensors in lists, whose memory C++ would read."""
    if not isinstance(data, (list, tuple)):
        return data
    return [recorder.value(part) if isinstance(part, FakeTensor) else _with_numbers(recorder, part) for part in data]


def _deepcopy(recorder: Recorder, func: Callable[..., object], tensor: Tensor, memo: dict[int, object]) -> object:
    """Tensor.__deepcopy__ and Parameter.__deepcopy__: views of one storage share it in the copy too."""
    if id(tensor) in memo:
        return memo[id(tensor)]
    if not tensor.is_leaf:
        return func(tensor, memo)  # raises
    with torch.no_grad():
        if isinstance(tensor, nn.Parameter):
            copied: Tensor = recorder.made_as(tensor)(
                tensor.data.clone(memory_format=torch.preserve_format), tensor.requires_grad
            )
        else:
            # Addresses of C++ objects are none of Python objects that live, so the keys of the memo stay apart.
            key = tensor.untyped_storage()._cdata
            if key not in memo:
                length = tensor.untyped_storage().nbytes() // tensor.element_size()
                memo[key] = tensor.as_strided((length,), (1,), 0).clone()
            whole = cast(Tensor, memo[key]).view(tensor.dtype)
            copied = whole.as_strided(tensor.size(), tensor.stride(), tensor.storage_offset()).detach()
            copied.requires_grad_(tensor.requires_grad)
            if tensor.grad is not None:
                copied.grad = cast(Tensor, _deepcopy(recorder, func, tensor.grad, memo))
            for name, value in own_attributes(tensor).items():
                setattr(copied, name, copy.deepcopy(value, memo))
    memo[id(tensor)] = copied
    return copied


def _carried_out(recorder: Recorder, func: Callable[..., object], *args: object, **kwargs: object) -> object:
    """A function that takes other steps where it sees a mode, with other last bits: carried out now."""
    if torch.is_grad_enabled() and any(isinstance(value, Tensor) and value.requires_grad for value in args):
        return func(*args, **kwargs)  # autograd needs the steps, which are the same then
    return recorder.carried_out(func, args, kwargs)


def _refuse(what: str) -> Callable[..., object]:
    def answer(recorder: Recorder, func: Callable[..., object], *args: object, **kwargs: object) -> object:
        raise refused(what, "the tensor has no memory yet")

    return answer


_ANSWERS: dict[object, Callable[..., object]] = {
    Tensor.data.__set__: _set_data,  # type: ignore[attr-defined] # a getset descriptor
    Tensor.tolist: lambda recorder, func, tensor: recorder.value(tensor).tolist(),
    Tensor.numpy: _numpy,
    Tensor.__array__: _numpy,
    Tensor.__deepcopy__: _deepcopy,
    Tensor.new_tensor: _new_tensor,
    **dict.fromkeys((torch.tensor, torch.as_tensor, torch.asarray), _from_data),
    **{
        getattr(torch.linalg, name): _carried_out
        for name in ("cond", "eigvals", "eigvalsh", "matrix_norm", "norm", "svdvals")
    },
    Tensor.__dlpack__: _refuse("dlpack"),
    Tensor.data_ptr: _refuse("data_ptr()"),
    Tensor.pin_memory: _refuse("pin_memory()"),
    Tensor.share_memory_: _refuse("share_memory_()"),
}
