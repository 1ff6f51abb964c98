"""`torch.nn.init` for a `reset_parameters` that has turned gradients off once for all fields."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

_init = nn.init
_zeros, _no_grad_zero = nn.init.zeros_, nn.init._no_grad_zero_
_ones, _no_grad_fill = nn.init.ones_, nn.init._no_grad_fill_


def zeros_(tensor: Tensor) -> None:
    """`nn.init.zeros_`, patched or not, within `torch.no_grad()`."""
    if _init.zeros_ is _zeros and _init._no_grad_zero_ is _no_grad_zero:
        tensor.zero_()
    else:
        _init.zeros_(tensor)


def ones_(tensor: Tensor) -> None:
    """`nn.init.ones_`, patched or not, within `torch.no_grad()`."""
    if _init.ones_ is _ones and _init._no_grad_fill_ is _no_grad_fill:
        tensor.fill_(1.0)
    else:
        _init.ones_(tensor)


def __getattr__(name: str) -> Any:  # each has arguments of its own
    return getattr(_init, name)
