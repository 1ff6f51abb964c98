"""The tensors and devices among the arguments of an operation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode


def name_of(func: object) -> str:
    """The name of an operation in a message: `aten.nonzero`."""
    return str(getattr(func, "overloadpacket", func))


def tensors(values: Iterable[object]) -> Iterator[Tensor]:
    """The tensors among values, those in lists and dictionaries included."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from tensors(value)
        elif isinstance(value, dict):
            yield from tensors(value.values())


def fakes_in(args: Sequence[object], kwargs: Mapping[str, object]) -> list[FakeTensor]:
    """The fake tensors among arguments."""
    return [tensor for tensor in tensors((*args, *kwargs.values())) if isinstance(tensor, FakeTensor)]


def with_known_values(values: Sequence[object]) -> list[object]:
    """Arguments with the value of each fake tensor that has one: torch keeps numbers that were written out."""
    known = [
        value.constant if isinstance(value, FakeTensor) and value.constant is not None else value for value in values
    ]
    return [with_known_values(value) if isinstance(value, (list, tuple)) else value for value in known]


UPDATING_STATISTICS = {torch.ops.aten.native_batch_norm.default, torch.ops.aten.cudnn_batch_norm.default}
"""Operations that write to their running statistics in training, which their schemas do not say."""
STATISTICS = ((3, "running_mean"), (4, "running_var"))
IS_TRAINING = 5


def written_real_tensor(func: object, args: Sequence[object], kwargs: Mapping[str, object]) -> str | None:
    """The name of the argument that is a real tensor and would be written to."""
    for index, name in written_arguments(func):
        value = args[index] if index < len(args) else kwargs.get(name)
        if any(not isinstance(tensor, FakeTensor) for tensor in tensors([value])):
            return name
    if func in UPDATING_STATISTICS and bool(args[IS_TRAINING]):
        for index, name in STATISTICS:
            if isinstance(args[index], Tensor) and not isinstance(args[index], FakeTensor):
                return name
    return None


def is_view_of_real_tensor(func: object, args: Sequence[object], kwargs: Mapping[str, object]) -> bool:
    """Whether an operation looks at the memory of a real tensor, so that its result is real: writing to it has to arrive."""
    is_view = isinstance(func, OpOverload) and func.is_view and func not in FakeTensorMode.lift_fns
    return is_view and not fakes_in(args, kwargs) and any(True for _ in tensors((*args, *kwargs.values())))


@cache
def written_arguments(func: object) -> tuple[tuple[int, str], ...]:
    """Position and name of the arguments that an operation writes to."""
    arguments = func._schema.arguments if isinstance(func, OpOverload) else []
    return tuple(
        (index, argument.name)
        for index, argument in enumerate(arguments)
        if argument.alias_info is not None and argument.alias_info.is_write
    )


_FIRST = 64
"""The index of the CPU that stands for `cuda:0`. A c10::Device keeps its index in a signed byte, so there are 64 of them."""

COUNT = 64
"""How many CUDA devices are emulated."""


def is_emulated(device: torch.device) -> bool:
    """Whether a device is a CUDA device of a machine that has none."""
    return device.type == "cuda" and not torch.cuda.is_available()


def told(device: torch.device) -> torch.device:
    """The device for C++: another one for a CUDA device that does not exist.

    >>> told(torch.device("cpu"))
    device(type='cpu')
    """
    if not is_emulated(device):
        return device
    index = device.index or 0
    if index >= COUNT:
        raise ValueError(f"expected a CUDA device from cuda:0 to cuda:{COUNT - 1}, got {device}")
    return torch.device("cpu", _FIRST + index)


def meant(device: torch.device) -> torch.device:
    """The device that is meant by what C++ was told, with its index.

    >>> meant(torch.device("cpu", 65))
    device(type='cuda', index=1)
    """
    if device.type == "cpu" and device.index is not None and device.index >= _FIRST:
        return torch.device("cuda", device.index - _FIRST)
    if device.index is None and is_emulated(device):
        return torch.device("cuda", 0)
    return device
