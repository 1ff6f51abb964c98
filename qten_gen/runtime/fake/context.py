"""`fake_mode`, `is_fake` and `meta_like`, the public functions of this room."""

from __future__ import annotations

from types import TracebackType

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import is_fake as _is_fake
from torch.utils._contextlib import _DecoratorContextManager

from .mode import FakeMode

MODE = FakeMode()
"""The mode of all contexts, so that tensors of two contexts can meet."""


class fake_mode(_DecoratorContextManager):
    """Make every tensor inside of the context fake: on its stated device, with a shape and a dtype, without data.

    >>> with fake_mode():
    ...     b = torch.ones([10])
    >>> b
    tensor(..., size=(10,), fake=True)
    >>> b.device
    device(type='cpu')
    >>> b @ b
    tensor(..., size=(), fake=True)

    Args:
        fake_cuda: Have CUDA devices on a machine without CUDA. Where CUDA is available this changes nothing.
    """

    def __init__(self, fake_cuda: bool = False) -> None:
        self._fake_cuda = fake_cuda

    def clone(self) -> fake_mode:
        """A context like this one, for each call of a decorated function."""
        return fake_mode(self._fake_cuda)

    def __enter__(self) -> None:
        MODE.__enter__()
        MODE.thread.fake_cuda += self._fake_cuda

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        MODE.thread.fake_cuda -= self._fake_cuda
        MODE.__exit__(kind, error, traceback)


def is_fake(tensor: Tensor) -> bool:
    """Whether a tensor is fake: it has a shape, a dtype and a device, and no data.

    >>> is_fake(torch.ones(2))
    False
    >>> with fake_mode():
    ...     is_fake(torch.ones(2))
    True
    """
    return _is_fake(tensor)


def meta_like(fake: Tensor) -> Tensor:
    """A meta tensor with the size, strides, dtype and layout of a fake tensor.

    As with `detach()`, the result is not part of the autograd graph and does not require a gradient.

    >>> with fake_mode():
    ...     weight = torch.ones(2, 3, requires_grad=True)
    >>> meta_like(weight)
    tensor(..., device='meta', size=(2, 3))

    Raises:
        ValueError: The tensor is not fake.
    """
    if not isinstance(fake, Tensor) or not is_fake(fake):
        kind = "a real tensor" if isinstance(fake, Tensor) else f"a {type(fake).__name__}"
        raise ValueError(f"meta_like expected a fake tensor, got {kind}; for a real one use tensor.to('meta')")
    return torch.empty_strided(fake.size(), fake.stride(), dtype=fake.dtype, device="meta")
