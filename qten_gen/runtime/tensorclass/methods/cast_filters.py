"""Casting some of the tensors of an object, which a user function selects."""

from __future__ import annotations
T = TypeVar("T", bound=Stored)

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import TypeVar, cast

import torch
from torch import Tensor

from ..core.stored import Stored
from .keys import keys_of_tensors


CastFilter = Callable[[Tensor], bool] | Callable[[tuple[str, ...], Tensor], bool]
"""Tells `to` which tensors it casts: a function of the tensor, or of its key, a tuple of names, and the tensor."""


def cast_some(self: T, dtype: torch.dtype, cast_filter: CastFilter) -> T:
    """The object with those tensors in another dtype that a filter selects."""
    if not _takes_key(cast_filter):
        return self._map_with(_cast_if, (dtype, cast("Callable[[Tensor], bool]", cast_filter)), self._device)
    keys = iter(keys_of_tensors(self))

    def selects(tensor: Tensor) -> bool:
        key = next(keys)
        return cast("Callable[[tuple[str, ...], Tensor], bool]", cast_filter)(
            (key,) if isinstance(key, str) else key, tensor
        )

    return self._map_with(_cast_if, (dtype, selects), self._device)


def _takes_key(cast_filter: CastFilter) -> bool:
    """Whether a filter has two arguments without default, the key and the tensor."""
    if isinstance(cast_filter, FunctionType):  # a few guards, where dynamo has dozens for the signature
        return cast_filter.__code__.co_argcount - len(cast_filter.__defaults__ or ()) == 2
    parameters = inspect.signature(cast_filter).parameters.values()
    positional = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    return len([one for one in positional if one.default is one.empty]) == 2


def _cast_if(tensor: Tensor, argument: tuple[torch.dtype, Callable[[Tensor], bool]]) -> Tensor:
    dtype, selects = argument
    return tensor.to(dtype=dtype) if selects(tensor) else tensor
