"""The class of fake tensors: what they print, what Python sees of their device, and how they are copied."""

from __future__ import annotations

import copy
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any, ClassVar, NoReturn, cast

import torch
from torch import Tensor, nn
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._mode_utils import no_dispatch

from .answers import ANSWERS, mode_of, with_told_device
from .arguments import meant, told

_DEVICE = torch.ops.prim.device.default


class Fake(FakeTensor):
    """A tensor with a shape, strides, a dtype, a device and an autograd history, and without data.

    It is torch's own fake tensor with another face: it prints as documented, it may be on a CUDA device of a machine that has
    none, and what it cannot do says why.
    """

    cls_to_become: ClassVar[type[Tensor]]
    """The class that torch gives to a parameter of a lazy module once it has a shape: this one, if it is fake."""

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override, unused-ignore] # torch gives it no types
        shown = _shown(self)
        return f"Parameter containing:\n{shown}" if isinstance(self, nn.Parameter) else shown

    def __format__(self, format_spec: str) -> str:
        """A number in an f-string with a format, `f"{loss:.3f}"`, which needs the value; otherwise as repr."""
        return format(self.item(), format_spec) if format_spec and self.dim() == 0 else format(repr(self), format_spec)

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., object],
        types: Sequence[type],
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        if func is Tensor.__deepcopy__:
            return _deeply_copied(*cast("tuple[FakeTensor, dict[int, object]]", args))
        answer = ANSWERS.get(func)
        with torch._C.DisableTorchFunctionSubclass():
            if answer is not None:
                return answer(func, *args, **(kwargs or {}))
            try:
                return func(*args, **with_told_device(kwargs))
            except RuntimeError as error:
                error.args = tuple(_with_meant_devices(part) for part in error.args)
                raise

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
        raise mode_of(self).without_memory("pickling or saving", "save the real model, or its shapes and dtypes")

    @property
    def __dict__(self) -> dict[str, object]:  # pyright: ignore[reportGeneralTypeIssues] # swapped by torch
        return cast(dict[str, object], _DICT.__get__(self))

    @__dict__.setter
    def __dict__(self, value: dict[str, object]) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Take the attributes of the tensor that this one is swapped with, and keep those that users set if a module moves.

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
        vars(copied).update(_attributes(self, copied))
        return copied


Fake.cls_to_become = Fake


_ATTRIBUTES = "attributes_of_tensors"
"""The name in a mode for the attributes of a tensor without a name."""


def fake_of(mode: FakeTensorMode, meta: Tensor, device: torch.device) -> Fake:
    """A fake tensor of a mode, of which nothing is known: all but the first one without the checks of torch."""
    known = vars(mode).get(_ATTRIBUTES)
    if known is None:
        first = Fake(mode, meta, device)
        vars(mode)[_ATTRIBUTES] = dict(vars(first))
        return first
    made = Tensor._make_subclass(Fake, meta, meta.requires_grad, dispatch_device=True, device_for_backend_keys=device)
    torch._C._set_throw_on_mutable_data_ptr(made)
    vars(made).update(known)
    made.fake_device = device
    return made


def _deeply_copied(tensor: FakeTensor, memo: dict[int, object]) -> Tensor:
    """A copy with the same strides; tensors that share memory have copies that do."""
    found = memo.get(id(tensor))
    if isinstance(found, Tensor):
        return found
    if not tensor.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment"
        )
    # An operation, so that a mode may refuse it.
    detached = cast(FakeTensor, tensor.detach())
    copied = _on_copied_storage(detached, memo) if tensor.layout == torch.strided else detached.clone()
    memo[id(tensor)] = copied
    copied.requires_grad_(tensor.requires_grad)
    if tensor.grad is not None:
        copied.grad = copy.deepcopy(tensor.grad, memo)
    vars(copied).update(copy.deepcopy(_attributes(tensor, copied), memo))
    return copied


def _attributes(tensor: Tensor, fresh: Tensor) -> dict[str, object]:
    """The attributes that a tensor has and a fresh one has not: those that users set, and whether it is a parameter."""
    return {name: value for name, value in vars(tensor).items() if name not in vars(fresh)}


_DICT = Tensor.__dict__["__dict__"]

_storage: Callable[..., torch.UntypedStorage] = torch.UntypedStorage


def _on_copied_storage(tensor: FakeTensor, memo: dict[int, object]) -> FakeTensor:
    """A fake tensor like another one, on a copy of its storage, which other copies find in `memo`."""
    with no_dispatch(), torch._C.DisableTorchFunctionSubclass():
        storage = tensor.untyped_storage()
        copied = memo.setdefault(storage._cdata, _storage(storage.nbytes(), device="meta"))
        made = torch.empty(0, dtype=tensor.dtype, device="meta")
        with torch.no_grad():
            made.set_(cast(torch.UntypedStorage, copied), tensor.storage_offset(), tensor.size(), tensor.stride())
        torch._C._set_conj(made, tensor.is_conj())
        torch._C._set_neg(made, tensor.is_neg())
        constant = None if tensor.constant is None else tensor.constant.clone()
        return Fake(tensor.fake_mode, made, tensor.fake_device, constant=constant)


def _in_move_of_module() -> bool:
    """Whether nn.Module swaps a parameter, because it moves: two functions of torch stand between."""
    frame: FrameType | None = sys._getframe(2)
    for _ in range(2):
        frame = frame and frame.f_back
    return frame is not None and frame.f_code is nn.Module._apply.__code__


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


def _with_meant_devices(text: object) -> object:
    """A message of C++ with the devices that exist for the user."""
    if not isinstance(text, str):
        return text
    return re.sub(r"\bcpu:\d+", lambda found: str(meant(torch.device(found[0]))), text)
