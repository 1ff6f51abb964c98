"""Parameters and buffers of lazy modules in fake mode: without a shape they are torch's own objects; with one they are fake.

torch makes such a parameter of an empty real tensor, and later gives it data and another class. At that moment, the object
becomes a fake tensor here, so that everything that refers to it holds the fake one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensor
from torch.nn.parameter import UninitializedBuffer, UninitializedParameter, is_lazy
from torch.utils._python_dispatch import _disable_current_modes

from .arguments import is_emulated
from .refusals import lazy_on_emulated_device

_SET_DATA = Tensor.data.__set__  # type: ignore[attr-defined] # torch's annotations leave it out

_HANDING_ON = {__name__, f"{__package__}.context", "torch.utils._device", "torch.overrides"}


def answers(func: Callable[..., object], args: Sequence[object]) -> bool:
    """Whether a call is about a parameter without a shape: it makes, moves, casts or fills one."""
    if func is torch.empty:
        return _is_called_by_new()
    return bool(args) and isinstance(args[0], Tensor) and is_lazy(args[0])


def answer(func: Callable[..., object], args: Sequence[object], kwargs: Mapping[str, object]) -> object:
    """Make, move, cast or fill a parameter without a shape.

    Raises:
        FakeTensorError: it would be on a CUDA device that does not exist, where no real tensor can be.
    """
    if func == _SET_DATA and isinstance(args[1], FakeTensor):
        become_fake(args[0], args[1])
        return None
    for value in (*args, *kwargs.values()):
        if _names_emulated_device(value) or (func is Tensor.cuda and not torch.cuda.is_available()):
            raise lazy_on_emulated_device()
    with _disable_current_modes():
        return func(*args, **kwargs)


def become_fake(lazy: object, data: Tensor) -> None:
    """Exchange a parameter without a shape for a fake one; references to the object stay valid."""
    assert isinstance(lazy, Tensor)
    is_parameter = isinstance(lazy, UninitializedParameter)
    made = nn.Parameter(data, lazy.requires_grad) if is_parameter else data.detach()
    kept = dict(vars(lazy))
    torch.utils.swap_tensors(lazy, made)  # type: ignore[no-untyped-call] # torch gives it no types
    vars(lazy).update(kept)


def _names_emulated_device(value: object) -> bool:
    if isinstance(value, str) and value.startswith("cuda"):
        value = torch.device(value)
    return isinstance(value, torch.device) and is_emulated(value)


def _is_called_by_new() -> bool:
    """Whether torch.empty is called by the constructor of a parameter without a shape; an empty nn.Parameter() has one."""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_globals.get("__name__") in _HANDING_ON:
        frame = frame.f_back
    if frame.f_globals.get("__name__") != "torch.nn.parameter" or frame.f_code.co_name != "__new__":
        return False
    made = frame.f_locals.get("cls")
    return isinstance(made, type) and issubclass(made, UninitializedParameter | UninitializedBuffer)
