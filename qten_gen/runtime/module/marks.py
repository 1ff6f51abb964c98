"""Memory that nobody has written yet: marks, by which it is recognised later, and a tensor that raises when it is read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from ctypes import c_int16, c_int32, c_int64, c_uint8
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

_BYTE = 0xA5
"""Each byte of a marked tensor that has no place in `_MARKS`."""

_MARKS: dict[torch.dtype, tuple[torch.dtype, int]] = {
    torch.float64: (torch.int64, 0x7FFDA5A5A5A5A5A5),
    torch.float32: (torch.int32, 0x7FE5A5A5),
    torch.float16: (torch.int16, 0x7FA5),
    torch.bfloat16: (torch.int16, 0x7FE5),
    torch.int64: (torch.int64, -0x5A5A5A5A5A5A5A5B),
    torch.int32: (torch.int32, -0x5A5A5A5B),
    torch.bool: (torch.uint8, _BYTE),
}
"""The mark in each element, as a number of its bits, which no program writes by chance: a NaN unlike torch's own, which
arithmetic gives; a large negative integer; a bool that is neither 0 nor 1."""


class Mark(NamedTuple):
    """A tensor that was marked."""

    tensor: Tensor
    version: int
    """Its version counter then."""
    bits: Tensor
    """Its memory as integers."""
    number: int
    """The one that marks each of them."""


def mark(tensor: Tensor) -> Mark:
    """Fill a tensor with marks."""
    bits, number = _bits(tensor)
    bits.fill_(number)
    return Mark(tensor, version_of(tensor), bits, number)


def version_of(tensor: Tensor | None) -> int:
    """How often a tensor was written; 0 for None, and for one of inference mode, which does not count."""
    return 0 if tensor is None or tensor.is_inference() else tensor._version


def unfilled(tensor: Tensor, version: int) -> int:
    """How many elements have their mark. All or none where a byte is no proof; a write through `.data` changes no version."""
    bits, number = _bits(tensor)
    found = bits == number
    if bits.numel() == tensor.numel() and tensor.dtype in _MARKS:
        return int(found.sum())
    if tensor.is_complex():
        return int(found.any(-1).sum())
    return tensor.numel() if version_of(tensor) == version and bool(found.all()) else 0


def _bits(tensor: Tensor) -> tuple[Tensor, int]:
    """The memory of a tensor as integers, a complex number as two of them, and the one that marks it."""
    # `.data`, because autograd refuses to write to a view of a complex parameter.
    data = torch.view_as_real(tensor.data) if tensor.is_complex() else tensor.data
    if data.dtype in _MARKS:
        bits, mark = _MARKS[data.dtype]
        return data.view(bits), mark
    return data.view(-1).view(torch.uint8), _BYTE


def mark_first(tensors: Iterable[Tensor]) -> bool:
    """Mark the first element that this process holds of each tensor, where a mark fits; False where none does."""
    others, is_marked = [], False
    for tensor in tensors:
        held = tensor if type(tensor) in _PLAIN else _held(tensor)
        if not _fits(held):
            continue
        is_marked = True
        if held.is_cpu:  # an operation of torch would take longer than the one that gave the memory
            number, mark = _C_NUMBERS[held.dtype]
            number.from_address(held.data_ptr()).value = mark
        else:
            others.append(held.data.as_strided((1,), (1,)))
    if others:
        marks = [_ONE_MARK[each.dtype, each.device] for each in others]
        torch._foreach_copy_(others, marks)  # pyright: ignore[reportPrivateImportUsage] # has no public name
    return is_marked


_C_TYPES = {torch.int64: c_int64, torch.int32: c_int32, torch.int16: c_int16, torch.uint8: c_uint8}
_C_NUMBERS = {dtype: (_C_TYPES[bits], number) for dtype, (bits, number) in _MARKS.items()}


class _OneMark(dict[tuple[torch.dtype, torch.device], Tensor]):
    """The mark of each dtype on each device, as a tensor."""

    def __missing__(self, key: tuple[torch.dtype, torch.device]) -> Tensor:
        bits, number = _MARKS[key[0]]
        self[key] = torch.tensor([number], dtype=bits, device=key[1]).view(key[0])
        return self[key]


_ONE_MARK = _OneMark()


def is_first_marked(tensor: Tensor) -> bool:
    """Return whether that element has its mark."""
    held = _held(tensor)
    return _fits(held) and unfilled(held.data.as_strided((1,), (1,)), 0) > 0


def _held(tensor: Any) -> Tensor:
    """The part of a tensor that this process holds."""
    held: Tensor = tensor if type(tensor) in _PLAIN else getattr(tensor, "_local_tensor", tensor)
    return held


def _fits(held: Tensor) -> bool:
    """Return whether there is memory for a mark."""
    is_usual = type(held) in _PLAIN and held.layout is torch.strided and held.dtype in _MARKS
    return is_usual and not held.is_meta and held.numel() > 0


_PLAIN = (Tensor, nn.Parameter)


_is_alias: Any = vars(torch._C)["_is_alias_of"]  # torch does not list it


class Unwritten(Tensor):
    """A buffer that nothing has written, which raises when it is read. Once somebody wrote it, it is a plain tensor again.

    Its moves, copies and views are of the same class. On meta, what is on meta may read it.
    """

    why: str
    """The message of the error."""

    @classmethod
    def become(cls, tensor: Tensor, why: str) -> None:
        """Let a plain tensor be one that nothing has written."""
        if not tensor.is_meta:
            mark(tensor)
        tensor.__class__ = cls
        tensor.why = why  # type: ignore[attr-defined] # of its class now

    @classmethod
    def __torch_function__(cls, func: Any, types: object, args: Any = (), kwargs: Any = None) -> Any:
        """Run a function as on plain tensors. If it has read one of these, look for the marks.

        Raises:
            RuntimeError: nobody has written over them.
        """
        name = getattr(func, "__name__", "")
        with torch._C.DisableTorchFunctionSubclass():
            if name in ("__repr__", "__format__"):
                return f"tensor(..., size={tuple(args[0].shape)}, never written)"
            given = [each for each in tree_leaves((args, kwargs)) if isinstance(each, Tensor)]
            try:
                found = args[0].clone() if name == "__deepcopy__" else func(*args, **(kwargs or {}))
            except (NotImplementedError, RuntimeError) as error:
                left = [each.why for each in given if type(each) is cls and each.is_meta]
                raise (RuntimeError(left[0]) if left else error) from None
            made = [each for each in tree_leaves(found) if isinstance(each, Tensor)]
            if _ASKS(name) or (name == "__get__" and not made):
                return found
            for each in given:
                if type(each) is not cls:
                    continue
                is_left = each.is_meta or unfilled(each, version_of(each)) == each.numel()
                if not is_left:
                    each.__class__ = Tensor  # type: ignore[assignment] # written by now
                elif name in _MOVES or (made and all(_is_alias(part, each) for part in made)):
                    for part in made if args[0] is each else ():
                        cls.become(part, each.why)
                elif not all(other.is_meta for other in given):
                    raise RuntimeError(each.why)
        return found

    # Compiled code does not trace it: it runs, and then the tensor is a plain one.
    __torch_function__.__func__._torchdynamo_disable = True  # type: ignore[attr-defined] # functions take any attribute


_MOVES = ("to", "cpu", "cuda", "type", "half", "bfloat16", "float", "double", "clone", "contiguous", "__deepcopy__")
_ASKS = re.compile(
    r"_?is_(?!nonzero).*|_has_.*|(new_)?(empty|zeros|ones|full|rand|randn)(_like|_strided)?|dim|numel|size|stride|storage_offset"
    r"|element_size|get_device|untyped_storage|data_ptr|_version|__(len|hash|reduce_ex)__"
).fullmatch
"""Matches the names of functions that read no values."""
