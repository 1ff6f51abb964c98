"""The dtype and the storage of a tensor, without a look at its values."""

from __future__ import annotations

import torch
from torch import Tensor


def dtype_name(tensor: Tensor) -> str:
    """`float32` for a tensor of `torch.float32`."""
    return str(tensor.dtype).removeprefix("torch.")


def storage_of(tensor: Tensor) -> torch.UntypedStorage | None:
    """The storage of a tensor; None for a sparse tensor, or another without one storage.

    That of a fake tensor says what it would be. Fake tensors refuse to give it, because it has no content.
    """
    try:
        with torch._C.DisableTorchFunctionSubclass():
            return tensor.untyped_storage()
    except (RuntimeError, NotImplementedError):
        return None
