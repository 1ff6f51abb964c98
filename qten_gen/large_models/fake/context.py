"""`fake_mode`, `is_fake` and `meta_like`, the public functions of this room."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import is_fake as _is_fake
from torch.overrides import TorchFunctionMode

from ...runtime.qten_style.devices import THREAD
from .arguments import Args, Function, Options, Types
from .fake_tensor import FOR_REAL_TENSORS, with_named_device
from .mode import FakeMode

MODE = FakeMode()
"""The mode of all contexts, so that tensors of two contexts can meet."""


@contextmanager
def fake_mode(fake_cuda: bool = False) -> Iterator[None]:
    """Make every tensor inside of the context fake: on its stated device, with a shape and a dtype, without data.

    Contexts can be nested, and each thread enters its own. Real tensors are read as fake ones; writing something fake into a real
    tensor is an error.

    >>> with fake_mode():
    ...     b = torch.ones([10])
    >>> b
    tensor(..., size=(10,), fake=True)
    >>> b.device
    device(type='cpu')
    >>> b @ b
    tensor(..., size=(), fake=True)

    On a machine without CUDA, `fake_cuda` emulates CUDA devices; where CUDA is available it changes nothing:

    >>> with fake_mode(fake_cuda=True):
    ...     layer = torch.nn.Linear(3, 2).cuda()
    ...     layer(torch.ones(5, 3, device="cuda:0")).device
    device(type='cuda', index=0)

    Args:
        fake_cuda: Have CUDA devices on a machine without CUDA.
    """
    with MODE, _Functions():
        THREAD.contexts += fake_cuda
        try:
            yield
        finally:
            THREAD.contexts -= fake_cuda


class _Functions(TorchFunctionMode):
    """Answers functions of torch that get no fake tensor, which would answer itself."""

    def __torch_function__(self, func: Function, types: Types, args: Args = (), kwargs: Options = None) -> object:
        answer = FOR_REAL_TENSORS.get(func)
        if answer is not None and not _is_fake(args[0]):
            return answer(func, *args, **(kwargs or {}))
        return func(*args, **with_named_device(kwargs))


def is_fake(tensor: Tensor) -> bool:
    """Return True for a fake tensor, which has a shape, a dtype and a device, and no data.

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
        kind = "a real tensor" if isinstance(fake, Tensor) else f"an object of type {type(fake).__name__}"
        raise ValueError(f"meta_like expected a fake tensor, got {kind}; for a real one use tensor.to('meta')")
    if fake.layout != torch.strided:
        return torch.empty(fake.size(), dtype=fake.dtype, layout=fake.layout, device="meta")
    made = torch.empty_strided(fake.size(), fake.stride(), dtype=fake.dtype, device="meta")
    torch._C._set_conj(made, fake.is_conj())
    torch._C._set_neg(made, fake.is_neg())
    return made
