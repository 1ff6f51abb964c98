"""The tensors and devices among the arguments of an operation, and who calls it."""

from __future__ import annotations

import contextlib
import copy
import functools
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import CodeType, FrameType
from typing import TypeAlias, cast

import torch
import typing_extensions
from torch import Tensor
from torch._ops import OpOverload

Function: TypeAlias = Callable[..., object]
Types: TypeAlias = Sequence[type]
"""The classes that override an operation or a function of torch."""
Args: TypeAlias = Sequence[object]
Keywords: TypeAlias = Mapping[str, object]
Options: TypeAlias = Keywords | None


def name_of(func: object) -> str:
    """The name of an operation in a message: `aten.nonzero`."""
    return str(getattr(func, "overloadpacket", func))


def tensors(values: Iterable[object]) -> Iterator[Tensor]:
    """The tensors among values, with those in lists and dictionaries."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from tensors(value)
        elif isinstance(value, dict):
            yield from tensors(value.values())


_UPDATING_STATISTICS = {torch.ops.aten.native_batch_norm.default, torch.ops.aten.cudnn_batch_norm.default}
"""Operators that write to their running statistics in training, which their schemas do not say."""
_STATISTICS = ((3, "running_mean"), (4, "running_var"))
_IS_TRAINING = 5


def written(func: object, args: Sequence[object], kwargs: Mapping[str, object]) -> Iterator[tuple[str, Tensor]]:
    """The tensors that an operation writes to, with the names of their arguments."""
    positions = _STATISTICS if func in _UPDATING_STATISTICS and args[_IS_TRAINING] else _written_arguments(func)
    for position, name in positions:
        value = args[position] if position < len(args) else kwargs.get(name)
        for tensor in tensors([value]):
            yield name, tensor


@cache
def _written_arguments(func: object) -> tuple[tuple[int, str], ...]:
    """Position and name of the arguments that the schema of an operation says it writes to."""
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
    """True for a CUDA device of a machine that has none."""
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


LIBRARIES = (
    os.path.dirname(torch.__file__) + os.sep,
    os.path.dirname(os.path.dirname(os.path.dirname(__file__))) + os.sep,
    *(cast(str, module.__file__) for module in (contextlib, copy, functools, typing_extensions)),
)
"""The folders of torch and of this package, and what calls functions for others: their lines are not the user's."""


def is_called_by(functions: tuple[CodeType, ...]) -> bool:
    """True if one of the functions is being called, within the libraries."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(LIBRARIES):
        if frame.f_code in functions:
            return True
        frame = frame.f_back
    return False
