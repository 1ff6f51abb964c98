"""Which tensors the function of a virtual tensor reads that it did not make itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import GetSetDescriptorType
from typing import NamedTuple

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils.weak import WeakIdKeyDictionary

DESCRIBING = frozenset(
    {
        *(Tensor.dtype, Tensor.device, Tensor.shape, Tensor.ndim, Tensor.is_meta),
        *(Tensor.size, Tensor.dim, Tensor.numel, Tensor.__len__),
        *(Tensor.is_floating_point, Tensor.is_complex, torch.is_floating_point, torch.is_complex),
    }
)
"""What tells nothing of a tensor but its dtype, device and shape."""


class Read(NamedTuple):
    """A tensor that was read."""

    tensor: Tensor
    contents: bool
    """Whether its elements were, and not only what `DESCRIBING` says."""
    version: int | None
    """Its version when it was read first; None for a tensor of inference mode, which has none."""


class TensorReads(TorchFunctionMode):
    """While it is entered, notes the tensors that torch's functions are called with and that none of them has returned.

    Tensors that come from anywhere else count as read, even new ones: from NumPy, from scripted code, or out of a transform.
    """

    def __init__(self) -> None:
        super().__init__()
        self.is_complete = True
        """Whether every tensor that was read is known: not where a function was called that may read others."""
        self._found: dict[int, Read] = {}
        self._made: WeakIdKeyDictionary = WeakIdKeyDictionary()

    def __torch_function__(
        self,
        func: Callable[..., object],
        types: Iterable[type],
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        given = {} if kwargs is None else kwargs
        for value in _leaves((*args, *given.values())):
            if isinstance(value, Tensor):
                self.add(value, contents=not _describes(func))
            elif callable(value) and not isinstance(value, type):
                self.is_complete = False
        result = func(*args, **given)
        for value in _leaves((result,)):
            if isinstance(value, Tensor) and id(value) not in self._found:
                self._made[value] = None
        return result

    def add(self, tensor: Tensor, contents: bool = True) -> None:
        """Count a tensor as read, with the version that it has now, unless it was made since."""
        known = self._found.get(id(tensor))
        if tensor not in self._made and (known is None or (contents and not known.contents)):
            self._found[id(tensor)] = Read(tensor, contents, None if tensor.is_inference() else tensor._version)

    def __iter__(self) -> Iterator[Read]:
        return iter(self._found.values())


def _describes(func: Callable[..., object]) -> bool:
    """Whether a function of torch is in `DESCRIBING`, an attribute by its getter."""
    attribute = getattr(func, "__self__", None)
    return (attribute if isinstance(attribute, GetSetDescriptorType) else func) in DESCRIBING


def _leaves(values: Iterable[object]) -> Iterator[object]:
    for value in values:
        if isinstance(value, tuple | list):
            yield from _leaves(value)
        elif isinstance(value, dict):
            yield from _leaves(value.values())
        else:
            yield value
