"""Functions that a program calls on fake tensors beside operations: `tensor.data = other`, `tolist()`, `copy.deepcopy`.

Here is too what Python knows of a tensor beside its values: attributes, hooks, gradients.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from threading import get_ident
from typing import cast

import torch
from torch import Tensor, nn
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn.parameter import is_lazy
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import _disable_current_modes

from ..fake.answers import on_storage
from ..fake.lazy_parameters import become_fake
from ..fake.tensor_arguments import tensors
from .errors import caller, refused
from .known_tensors import storage_address
from .recording import Recorder

with FakeTensorMode():
    _OF_FAKE = frozenset(vars(torch.empty(0))) | {"_is_param", "real"}
"""The attributes that torch sets on every fake tensor."""


def own_attributes(fake: Tensor) -> dict[str, object]:
    """The attributes that the program set on a fake tensor."""
    return {name: value for name, value in vars(fake).items() if name not in _OF_FAKE}


def gradient_of(tensor: Tensor) -> Tensor | None:
    """The gradient that was accumulated in a tensor, or that was assigned."""
    with torch._C.DisableTorchFunction():
        return tensor.grad if tensor.is_leaf or tensor.retains_grad else None


def with_attributes_of(fake: Tensor, real: Tensor) -> Tensor:
    """A real tensor with what the program set on its fake: that it is a parameter, `requires_grad`, attributes and hooks.

    Returns:
        `real` itself, or a parameter that shares its memory.
    """
    if isinstance(fake, nn.Parameter) and not isinstance(real, nn.Parameter):
        real = torch.Tensor._make_subclass(nn.Parameter, real)
    if fake.is_leaf and not real.is_leaf:
        real = real.detach()  # autograd hands `detach_()` on to nobody
    if fake.is_leaf and real.is_leaf and real.requires_grad != fake.requires_grad:
        with torch.inference_mode(real.is_inference()):
            real.requires_grad_(fake.requires_grad)
    vars(real).update(own_attributes(fake))
    for hook in (fake._backward_hooks or {}).values():
        real.register_hook(hook)  # type: ignore[no-untyped-call] # of torch
    for hook in (getattr(fake, "_post_accumulate_grad_hooks", None) or {}).values():
        real.register_post_accumulate_grad_hook(hook)  # type: ignore[no-untyped-call] # of torch
    return real


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
        if torch._C._dispatch_tls_is_dispatch_key_excluded(_PYTHON):
            # Kernels would run on the memory that fake tensors do not have.
            error = self._recorder.hidden(getattr(func, "__name__", func), (*args, *(kwargs or {}).values()))
            if error is not None and getattr(func, "__name__", "") != "__get__":
                raise error
        if func is torch.asarray and args and isinstance(args[0], torch.UntypedStorage):
            return on_storage(func, *args, **(kwargs or {}))
        answer = _ANSWERS.get(func)
        if answer is None or self._recorder.working_thread == get_ident():
            return self._call(func, args, kwargs or {})
        if not any(self._recorder.is_mine(value) for value in tensors((*args[:2], (kwargs or {}).get("data")))):
            return func(*args, **(kwargs or {}))
        return answer(self._recorder, func, *args, **(kwargs or {}))

    def _call(self, func: Callable[..., object], args: Sequence[object], kwargs: Mapping[str, object]) -> object:
        """Call a function, which C++ may carry out on memory without saying so before."""
        try:
            return func(*args, **kwargs)
        except RuntimeError as error:
            if not any(said in str(error) for said in _NO_DATA):
                raise
            name = getattr(func, "__name__", func)
            why = "torch runs it on memory, and has no rule for fake tensors"
            instead = "call it outside, and pass in what it gives"
            raise refused(self._recorder.program, name, caller()[0], why, instead) from error


def _set_data(recorder: Recorder, func: Callable[..., object], tensor: Tensor, data: Tensor) -> object:
    """`tensor.data = data`. The slot of the tensor is looked up anew when it is used next."""
    if is_lazy(tensor):
        become_fake(tensor, data)
        return None
    if not recorder.is_mine(tensor):
        place, _ = caller()
        why = "the tensor is from outside, and the value is not there yet"
        raise refused(recorder.program, "`tensor.data = value`", place, why)
    if not recorder.is_mine(data):
        data = recorder.take(data)
    if data.is_conj() or data.is_neg():
        # Slots say which memory it is, and not that it is read otherwise.
        why, instead = "the value is a conjugate view", "take value.resolve_conj() or value.resolve_neg()"
        raise refused(recorder.program, "`tensor.data = value`", caller()[0], why, instead)
    found = func(tensor, data)
    tensor.fake_device = data.fake_device  # type: ignore[attr-defined] # both are fake tensors
    return found


def _tolist(recorder: Recorder, func: Callable[..., object], tensor: Tensor) -> object:
    return recorder.value(tensor).tolist()


def _numpy(recorder: Recorder, func: Callable[..., object], tensor: Tensor, *args: object, **kwargs: object) -> object:
    """An array of the values, which follows changes of the tensor. It cannot be written to: the tensor would not follow."""
    values = recorder.value(tensor).requires_grad_(tensor.requires_grad)
    array = func(values, *args, **kwargs)
    slot = recorder.slot(tensor)
    recorder.arrays.hand_out(array, values, slot, recorder.tape.storage_of(slot))
    array.flags.writeable = False  # type: ignore[attr-defined] # an array of numpy, which is not imported here
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
    data = _with_numbers(recorder, data)
    return torch.tensor(data, dtype=dtype or tensor.dtype, device=device, requires_grad=requires_grad)


def _from_data(
    recorder: Recorder, func: Callable[..., object], data: object, *args: object, **kwargs: object
) -> object:
    """`torch.tensor(data)` and its like."""
    return func(_with_numbers(recorder, data), *args, **kwargs)


def _with_numbers(recorder: Recorder, data: object) -> object:
    """The data of a tensor, with numbers in place of tensors in lists, whose memory C++ would read."""
    if not isinstance(data, (list, tuple)):
        return data
    return [
        recorder.value(part) if isinstance(part, Tensor) and recorder.is_mine(part) else _with_numbers(recorder, part)
        for part in data
    ]


def _deepcopy(recorder: Recorder, func: Callable[..., object], tensor: Tensor, memo: dict[int, object]) -> object:
    """Tensor.__deepcopy__ and Parameter.__deepcopy__: views of one storage share it in the copy too."""
    if id(tensor) in memo:
        return memo[id(tensor)]
    if not tensor.is_leaf:
        return func(tensor, memo)  # raises
    with torch.no_grad():
        if isinstance(tensor, nn.Parameter):
            made = recorder.made_as(tensor)
            copied: Tensor = made(tensor.data.clone(memory_format=torch.preserve_format), tensor.requires_grad)
        else:
            copied = _copy_with_storage(tensor, memo)
            copied.requires_grad_(tensor.requires_grad)
            if tensor.grad is not None:
                copied.grad = cast(Tensor, _deepcopy(recorder, func, tensor.grad, memo))
            for name, value in own_attributes(tensor).items():
                setattr(copied, name, copy.deepcopy(value, memo))
    memo[id(tensor)] = copied
    return copied


def _copy_with_storage(tensor: Tensor, memo: dict[int, object]) -> Tensor:
    """The same part of a copy of the whole storage, which is made once."""
    # Addresses of C++ objects are none of Python objects that live, so the keys of the memo stay apart.
    key = storage_address(tensor)
    if key not in memo:
        length = tensor.untyped_storage().nbytes() // tensor.element_size()
        memo[key] = tensor.as_strided((length,), (1,), 0).clone()
    storage = cast(Tensor, memo[key])
    return storage.view(tensor.dtype).as_strided(tensor.size(), tensor.stride(), tensor.storage_offset()).detach()


def _as_one_operation(overload: OpOverload, for_names: OpOverload | None = None) -> Callable[..., object]:
    """Record a function as one operation that torch carries out in other steps where it sees tensor subclasses or modes.

    The results of both ways differ in the last bits. `for_names` is the overload for an order that is given by name ("fro").
    """

    def answer(recorder: Recorder, func: Callable[..., object], *args: object, **kwargs: object) -> object:
        if torch.is_grad_enabled() and any(isinstance(value, Tensor) and value.requires_grad for value in args):
            return func(*args, **kwargs)  # autograd needs the steps, which are the same then
        order = args[1] if len(args) > 1 else kwargs.get("ord")
        chosen = for_names if for_names is not None and isinstance(order, str) else overload
        named = {"self" if name in ("A", "input") else name: value for name, value in kwargs.items()}
        with _disable_current_modes():
            return recorder.__torch_dispatch__(chosen, (), args, named)

    return answer


def _refuse(what: str, why: str) -> Callable[..., object]:
    """An answer that raises."""

    def answer(recorder: Recorder, func: Callable[..., object], *args: object, **kwargs: object) -> object:
        raise refused(recorder.program, what, caller()[0], why)

    return answer


_aten = torch.ops.aten
_NO_MEMORY = "the tensor has no memory yet"

_ANSWERS: dict[object, Callable[..., object]] = {
    Tensor.data.__set__: _set_data,  # type: ignore[attr-defined] # a getset descriptor
    Tensor.tolist: _tolist,
    Tensor.numpy: _numpy,
    Tensor.__array__: _numpy,
    Tensor.__deepcopy__: _deepcopy,
    Tensor.new_tensor: _new_tensor,
    torch.tensor: _from_data,
    torch.as_tensor: _from_data,
    torch.asarray: _from_data,
    Tensor.__dlpack__: _refuse("dlpack", _NO_MEMORY),
    torch.linalg.cond: _as_one_operation(_aten.linalg_cond.default, _aten.linalg_cond.p_str),
    torch.linalg.eigvals: _as_one_operation(_aten.linalg_eigvals.default),
    torch.linalg.eigvalsh: _as_one_operation(_aten.linalg_eigvalsh.default),
    torch.linalg.matrix_norm: _as_one_operation(_aten.linalg_matrix_norm.default, _aten.linalg_matrix_norm.str_ord),
    torch.linalg.norm: _as_one_operation(_aten.linalg_norm.default, _aten.linalg_norm.ord_str),
    torch.linalg.svdvals: _as_one_operation(_aten.linalg_svdvals.default),
    Tensor.data_ptr: _refuse("data_ptr()", _NO_MEMORY),
    Tensor.pin_memory: _refuse("pin_memory()", _NO_MEMORY),
    Tensor.share_memory_: _refuse("share_memory_()", _NO_MEMORY),
}
