"""What surrounds an initialiser: poisoned memory, and a watch over what it does."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from ..fake.arguments import Args, Function, Options, Types

_INTEGER_POISONS = (0xA5, 0x5A)


def poison(tensor: Tensor, attempt: int) -> Tensor:
    """Fill a tensor with what an initialiser is unlikely to write: nan, bytes that no truth value has, unlikely integers."""
    with torch.no_grad():
        if is_floating(tensor):
            return tensor.fill_(torch.nan)
        memory = torch.empty(0, dtype=torch.uint8).set_(tensor.untyped_storage())
        memory.fill_(2 if tensor.dtype is torch.bool else _INTEGER_POISONS[attempt])
    return tensor


def poisoned(tensor: Tensor, attempt: int) -> Tensor:
    """Where a tensor still has the poison, as truth values."""
    tensor = tensor.detach()
    if is_floating(tensor):
        return torch.isnan(tensor.float() if tensor.dtype.itemsize == 1 else tensor)
    if tensor.dtype is torch.bool:
        return tensor.view(torch.uint8) > 1
    byte = _INTEGER_POISONS[attempt]
    number = int.from_bytes([byte] * tensor.dtype.itemsize, "little", signed=tensor.dtype.is_signed)
    return tensor == number


class Watch(TorchFunctionMode):
    """What an initialiser must not do: draw from a generator of its own, or use the tensors of modules outside of its unit.

    New memory is poisoned, so that a copy of `torch.empty(3)` counts as nothing.
    """

    def __init__(self, guarded: Mapping[int, str], attempt: int) -> None:
        super().__init__()
        self.where = ""
        """The method that runs, for errors."""
        self._guarded, self._attempt = guarded, attempt

    def __torch_function__(self, func: Function, types: Types, args: Args = (), kwargs: Options = None) -> object:
        kwargs = kwargs or {}
        generator = kwargs.get("generator")
        if isinstance(generator, torch.Generator) and generator is not torch.default_generator:
            raise ValueError(
                f"materialize(): {self.where} draws from a generator of its own; the numbers depend on the seed and the name of"
                " the module, so leave generator= out (or use qten_gen.deferred_init, which keeps generators)"
            )
        if self._guarded and func not in _HARMLESS:
            for value in tree_leaves((args, kwargs)):
                if isinstance(value, Tensor) and id(value) in self._guarded:
                    raise RuntimeError(
                        f"materialize(): {self.where} uses {self._guarded[id(value)]}, which another declared module owns; each"
                        " process may hold a part of it: say it there, by initializer= or in its reset_parameters"
                    )
        found = func(*args, **kwargs)
        if func in _EMPTY and isinstance(found, Tensor) and not found.is_meta:
            poison(found, self._attempt)
        return found


_EMPTY = {
    torch.empty,
    torch.empty_like,
    torch.empty_strided,
    torch.empty_permuted,
    Tensor.new_empty,
    Tensor.new_empty_strided,
}
_HARMLESS = {
    Tensor.size,
    Tensor.dim,
    Tensor.numel,
    Tensor.is_floating_point,
    Tensor.__len__,
    Tensor.__hash__,
    *(
        getattr(Tensor, name).__get__
        for name in ("shape", "dtype", "device", "ndim", "is_meta", "requires_grad", "layout")
    ),
}
"""Functions that ask a tensor for what it is on meta too."""


def is_floating(tensor: Tensor) -> bool:
    """Return whether a tensor can hold nan."""
    return tensor.is_floating_point() or tensor.is_complex()
