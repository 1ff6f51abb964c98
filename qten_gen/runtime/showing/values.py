"""A Python value in a few words: for a notebook, which shows many of them, and where a long one would hide the others."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch import Tensor
from torch.overrides import TorchFunctionMode

from .numbers import sizes
from .tensor_memory import dtype_name

_LONGEST = 120


class _WithoutData(TorchFunctionMode):
    """The text of a tensor is its dtype, shape and device: whatever holds it, nothing waits for a device or copies from it."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if func in (Tensor.__repr__, Tensor.__format__):
            return tensor_text(args[0])
        return func(*args, **(kwargs or {}))


def tensor_text(tensor: Tensor) -> str:
    """`float32[2, 3] cpu`."""
    return f"{dtype_name(tensor)}{shape_of(tensor)} {tensor.device}"


def shape_of(tensor: Tensor) -> str:
    """`[2, 3]`; empty for a nested tensor that has no shape."""
    try:
        return sizes(tensor.shape)
    except RuntimeError:
        return ""


def in_short(value: object) -> str:
    """The repr of a value, cut where it is long; the name of its class and an address where the repr raises.

    >>> in_short(list(range(1000)))
    '[0, 1, 2, 3, 4, 5, ...]'
    """
    shown = reprlib.Repr()
    shown.maxstring = shown.maxother = shown.maxlong = _LONGEST
    return text_of(lambda: shown.repr(value)) or f"<{type(value).__name__}>"


def text_of(describe: Callable[[], str]) -> str:
    """The text that a user's function gives, on one line and cut where it is long; nothing if it raises."""
    try:
        with _WithoutData():
            text = " ".join(describe().split())
    except Exception:  # whatever a user's __repr__ raises: a notebook shows the rest
        return ""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
