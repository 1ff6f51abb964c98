"""Work on real tensors where a mode, such as that of fake tensors, is active around it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import torch
from torch.compiler import is_compiling
from torch.utils._python_dispatch import _disable_current_modes

F = TypeVar("F", bound=Callable[..., object])


def with_real_tensors(fn: F) -> F:
    """The function, whose tensors have values in every mode: for what is read in Python and never a part of a computation.

    Dynamo traces what is inside, as it does elsewhere.
    """

    @wraps(fn)
    def call(*args: Any) -> object:
        if is_compiling() or not torch._C._len_torch_dispatch_stack():
            return fn(*args)
        with _disable_current_modes():
            return fn(*args)

    return cast(F, call)
