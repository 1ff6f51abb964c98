"""What a generated class calls so that no declared parameter or buffer is left uninitialised in silence.

Initialisers of torch fill what they are given. Code of the user's may forget to: a function returns a new tensor, a
`reset_parameters` leaves a field out. The constructor marks the tensors that depend on such code, and looks for the mark
afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.compiler import is_dynamo_compiling

_PLAIN = (Tensor, nn.Parameter)
_MARK = 0xA5
"""Each byte of a marked tensor of integers, bools or floating point of one byte; others hold NaN."""

_INITIALISERS = {
    name: function for name, function in vars(nn.init).items() if name.endswith("_") and callable(function)
}


class Mark(NamedTuple):
    """A tensor that was marked, and its version counter then."""

    tensor: Tensor
    version: int


def fill(tensor: Tensor, initializer: Callable[[Tensor], object], field: str) -> None:
    """Call an initialiser. `field` names what it fills, `Attention.scale`.

    Raises:
        TypeError: it returned a new tensor of that shape, as `torch.zeros_like` does.
    """
    result = initializer(tensor)
    if result is None or result is tensor or not isinstance(result, Tensor) or is_dynamo_compiling():
        return
    if result.shape != tensor.shape:
        return  # a statistic, say; whether the tensor is filled is checked too
    if type(result) in _PLAIN and type(tensor) in _PLAIN and not _same_memory(result, tensor):
        name = getattr(initializer, "__name__", None) or repr(initializer)
        raise TypeError(
            f"{field}: the initializer {name} returned a new tensor, which is not used;"
            " expected that it fills the tensor it is given: lambda tensor: tensor.normal_().mul_(0.02)"
        )


def _same_memory(result: Tensor, tensor: Tensor) -> bool:
    if result.layout is not torch.strided or tensor.layout is not torch.strided:
        return False
    return result.untyped_storage().data_ptr() == tensor.untyped_storage().data_ptr()


def mark_unfilled(module: nn.Module, *names: str) -> dict[str, Mark]:
    """Mark the memory of new parameters and buffers, before the class's own code is to fill it.

    Tensors without memory of their own are left out: those on meta, fake ones, and those that a hook or a mode made another kind.
    """
    if is_dynamo_compiling():
        return {}
    found = ((name, _registered(module, name)) for name in names)
    return {name: Mark(tensor, _mark(tensor)) for name, tensor in found if tensor is not None and _has_memory(tensor)}


def check_filled(module: nn.Module, marks: dict[str, Mark]) -> None:
    """Look for tensors that still have their mark.

    Raises:
        RuntimeError: one has. It is not raised where something skips initialisation on purpose, by patches of `torch.nn.init`
            or of the class's `reset_parameters`, or by a mode for torch functions.
    """
    for name, (tensor, version) in marks.items():
        # A write through `.data` leaves the counter as it is, so only the memory says that nothing was written.
        if tensor._version == version and _registered(module, name) is tensor and _is_marked(tensor):
            if _initialisation_is_skipped(type(module)):
                return
            cls = type(module).__name__
            raise RuntimeError(
                f"{cls}.{name} is not initialised: no initializer, {cls}.reset_parameters or __post_init__ writes to it;"
                f" a reset_parameters of your own has to call super().reset_parameters() or to fill self.{name}"
            )


def _registered(module: nn.Module, name: str) -> Tensor | None:
    found = module._parameters.get(name)
    return module._buffers.get(name) if found is None else found


def _has_memory(tensor: Tensor) -> bool:
    return type(tensor) in _PLAIN and tensor.device.type != "meta" and tensor.numel() > 0 and not tensor.is_inference()


def _mark(tensor: Tensor) -> int:
    data = tensor.data
    if _has_nan(data):
        data.fill_(torch.nan)
    else:
        _bytes(data).fill_(_MARK)
    return tensor._version


def _is_marked(tensor: Tensor) -> bool:
    data = tensor.data
    if _has_nan(data):
        return bool(data.isnan().all())
    return bool((_bytes(data) == _MARK).all())


def _has_nan(data: Tensor) -> bool:
    """Whether torch can write NaN and look for it: not in floating point of one byte, or of two numbers in one."""
    return data.is_complex() or (data.is_floating_point() and data.element_size() > 1)


def _bytes(data: Tensor) -> Tensor:
    return data.view(-1).view(torch.uint8)


def _initialisation_is_skipped(cls: type) -> bool:
    """Whether somebody replaced `reset_parameters` or the functions of `torch.nn.init`, or a mode may do so.

    A mode for the default device does not.
    """
    from torch.overrides import _get_current_function_mode_stack
    from torch.utils._device import DeviceContext

    declared = [base for base in cls.__mro__ if "_declared_reset" in vars(base)]
    if any(getattr(base, "reset_parameters", None) is not vars(base)["_declared_reset"] for base in declared):
        return True
    if any(vars(nn.init).get(name) is not function for name, function in _INITIALISERS.items()):
        return True
    modes: list[object] = _get_current_function_mode_stack()  # type: ignore[no-untyped-call] # torch gives it no types
    return any(not isinstance(mode, DeviceContext) for mode in modes)
