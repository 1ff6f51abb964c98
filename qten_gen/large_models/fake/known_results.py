"""What operations returned before, so that a layer that is repeated a hundred times is computed once.

torch's own mode keeps results too, with a key of everything that a tensor can be. That key costs more than most rules for shapes:
12 blocks of a transformer run in 91 ms, forward and backward, where torch's mode takes 334. Constructors gain nothing.
Here only plain tensors and numbers count: strided, dense, without a known value, outside of inference mode. Everything else goes
to torch's mode.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import cast

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode, in_kernel_invocation_manager
from torch.utils._mode_utils import no_dispatch

from .fake_tensor import Fake, made_like

Key = tuple[object, ...]

_MOST = 8192
"""How many results are kept."""

_PLAIN = (int, float, bool, complex, str, type(None), torch.dtype, torch.layout, torch.memory_format)
"""The types of arguments that are compared as they are."""

_ATTRIBUTES = "attributes_of_tensors"
"""What a mode calls the attributes of a tensor that nothing is known of."""

_aten = torch.ops.aten
_VIEWS = {
    _aten._unsafe_view.default,
    _aten.alias.default,
    _aten.detach.default,
    _aten.expand.default,
    _aten.permute.default,
    _aten.select.int,
    _aten.slice.Tensor,
    _aten.squeeze.dim,
    _aten.t.default,
    _aten.transpose.int,
    _aten.unsqueeze.default,
    _aten.view.default,
}
"""Operations that return a part of their first argument, the only tensor that they take, on the same device."""

_RETURNED_SELF = 0
"""Stands for the first argument among results."""

_UNKNOWN_TAGS = {
    torch.Tag.data_dependent_output,
    torch.Tag.dynamic_output_shape,
    torch.Tag.inplace_view,
}


@dataclass(frozen=True, slots=True)
class _Made:
    """A tensor in memory of its own."""

    shape: torch.Size
    stride: tuple[int, ...]
    dtype: torch.dtype
    device: torch.device


_Result = _Made | int | None
_Results = _Result | tuple[_Result, ...]

_KNOWN: dict[Key, _Results] = {}


def key_of(mode: FakeTensorMode, func: OpOverload, args: Sequence[object], kwargs: Mapping[str, object]) -> Key | None:
    """What the result of an operation depends on; None where more than plain tensors and numbers take part."""
    if not _is_simple(func) or _has_more_to_know(mode):
        return None
    parts: list[object] = [func, torch.get_default_dtype()]
    if not _add(parts, args, mode):
        return None
    if kwargs:
        parts.extend(kwargs)
        if not _add(parts, kwargs.values(), mode):
            return None
    return tuple(parts)


def known_result(mode: FakeTensorMode, key: Key, args: Sequence[object], unknown: object) -> object:
    """What an operation returns, made anew; `unknown` if that was not kept."""
    found = _KNOWN.get(key, unknown)
    if isinstance(found, tuple):
        return tuple(_made(mode, part, args) for part in found)
    return unknown if found is unknown else _made(mode, cast(_Result, found), args)


def keep(key: Key, args: Sequence[object], found: object) -> None:
    """Keep what an operation returned, if it can be made again from its shape alone."""
    kept = tuple(_kept(part, args) for part in found) if isinstance(found, tuple) else _kept(found, args)
    if kept is not None and not (isinstance(kept, tuple) and None in kept):
        if len(_KNOWN) >= _MOST:
            _KNOWN.clear()
        _KNOWN[key] = kept


@cache
def _is_simple(func: OpOverload) -> bool:
    """Whether the result of an operation follows from the shapes and types of its arguments, and is not a view of them.

    An operation that writes may change its first argument in place, and return it.
    """
    schema = func._schema
    written = [
        index
        for index, argument in enumerate(schema.arguments)
        if argument.alias_info is not None and argument.alias_info.is_write
    ]
    return (
        func.namespace == "aten"
        and not func.is_view
        and not _UNKNOWN_TAGS & set(func.tags)
        and func not in FakeTensorMode.lift_fns
        and (not written or (written == [0] and schema.name.endswith("_") and len(schema.returns) == 1))
        and any("Tensor" in str(argument.type) for argument in schema.arguments)
        and all(str(result.type) == "Tensor" for result in schema.returns)
        and not any(argument.name in ("device", "generator", "pin_memory") for argument in schema.arguments)
    )


def _add(parts: list[object], values: Iterable[object], mode: FakeTensorMode) -> bool:
    """Add what counts of arguments to a key; False where something counts that is not known here."""
    for value in values:
        kind = type(value)
        if kind is Fake:
            tensor = cast(FakeTensor, value)
            if tensor.fake_mode is not mode or tensor.constant is not None or not _is_dense(tensor):
                return False
            parts += (
                tensor.shape,
                tensor.stride(),
                tensor.storage_offset(),
                tensor.dtype,
                tensor.fake_device,
                tensor.requires_grad,
            )
        elif kind in _PLAIN:
            parts.append(kind)
            parts.append(value)
        elif kind is list or kind is tuple:
            sequence = cast(Sequence[object], value)
            parts.append(len(sequence))
            if not _add(parts, sequence, mode):
                return False
        else:
            return False
    return True


def _has_more_to_know(mode: FakeTensorMode) -> bool:
    """Whether sizes can be symbols, or results are of inference mode."""
    return mode.shape_env is not None or torch.is_inference_mode_enabled()


def _is_dense(tensor: Tensor) -> bool:
    """Whether shape, strides, dtype and device are all that there is of a tensor."""
    return (
        tensor.layout is torch.strided
        and not tensor.is_nested
        and not tensor.is_quantized
        and not tensor.is_conj()
        and not tensor.is_neg()
        and not tensor.is_inference()
    )


def view_of(
    mode: FakeTensorMode, func: OpOverload, args: Sequence[object], kwargs: Mapping[str, object]
) -> Fake | None:
    """The part of a plain tensor that an operation returns, from its rule for meta tensors; None for anything else."""
    if func not in _VIEWS or kwargs or type(args[0]) is not Fake or _has_more_to_know(mode):
        return None
    tensor = args[0]
    if tensor.fake_mode is not mode or tensor.constant is not None or not _is_dense(tensor):
        return None
    with in_kernel_invocation_manager(mode):
        meta = func(*args)
    return fake_of(mode, meta, tensor.fake_device)


def fake_of(mode: FakeTensorMode, meta: Tensor, device: torch.device) -> Fake:
    """A fake tensor of a mode, on a device that has an index if its kind has some; nothing is known of its values."""
    known = mode.__dict__.get(_ATTRIBUTES)
    if known is not None:
        return made_like(known, meta, device)
    made = Fake(mode, meta, device)
    mode.__dict__[_ATTRIBUTES] = dict(vars(made))
    return made


def _made(mode: FakeTensorMode, kept: _Result, args: Sequence[object]) -> object:
    if not isinstance(kept, _Made):
        return args[0]
    with no_dispatch():
        meta = torch.empty_strided(kept.shape, kept.stride, dtype=kept.dtype, device="meta")
        return fake_of(mode, meta, kept.device)


def _kept(found: object, args: Sequence[object]) -> _Result:
    """How a result is made again; None if it is something else than a plain tensor in memory of its own."""
    if args and found is args[0]:
        return _RETURNED_SELF
    if type(found) is not Fake or found.constant is not None or found.requires_grad or not _is_dense(found):
        return None
    with no_dispatch():
        fresh = torch.empty_strided(found.shape, found.stride(), dtype=found.dtype, device="meta")
        if found.storage_offset() or found.untyped_storage().nbytes() != fresh.untyped_storage().nbytes():
            return None
        if any(_shares_memory(found, value) for value in args):
            return None
    return _Made(found.shape, found.stride(), found.dtype, found.fake_device)


def _shares_memory(found: Tensor, value: object) -> bool:
    """Whether a result is a part of an argument, or of a tensor in a list of them."""
    if isinstance(value, (list, tuple)):
        return any(_shares_memory(found, part) for part in value)
    return isinstance(value, Tensor) and value.untyped_storage()._cdata == found.untyped_storage()._cdata
