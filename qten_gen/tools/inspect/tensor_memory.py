"""The dtype and the memory of a tensor, without a look at its values."""

from __future__ import annotations

import torch
from torch import Tensor


def dtype_name(tensor: Tensor) -> str:
    """`float32` for a tensor of `torch.float32`."""
    return str(tensor.dtype).removeprefix("torch.")


def bytes_of(tensor: Tensor) -> int:
    """The memory of a tensor: less than its elements need if it is expanded."""
    needed = tensor.numel() * tensor.element_size()
    storage = storage_of(tensor)
    return needed if storage is None else min(needed, storage.nbytes())


def storage_key(tensor: Tensor) -> int | None:
    """A key that tensors with the same memory share, as long as one of them lives; None for a tensor without one storage."""
    storage = storage_of(tensor)
    if storage is None:
        return None
    key: int = storage._cdata
    return key


def storage_of(tensor: Tensor) -> torch.UntypedStorage | None:
    """The storage of a tensor; None for a sparse tensor, or another without one storage.

    That of a fake tensor says what it would be. Fake tensors refuse to give it, because it has no content.
    """
    try:
        with torch._C.DisableTorchFunctionSubclass():
            return tensor.untyped_storage()
    except (RuntimeError, NotImplementedError):
        return None
