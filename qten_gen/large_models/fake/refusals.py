"""What fake tensors refuse: what needs values or memory, and what real tensors refuse and rules for fake ones let pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._mode_utils import no_dispatch


class FakeTensorError(RuntimeError):
    """Something was asked of a fake tensor that needs its values, its memory, or a device that does not exist."""


def has_no_memory(what: str, instead: str) -> FakeTensorError:
    """The error about memory: `data_ptr()`, `numpy()`, `pin_memory()` and the like."""
    return FakeTensorError(f"{what} needs the memory of a fake tensor, and a fake tensor has none; {instead}")


NO_PINNING = "pin real tensors, and only on a machine with CUDA; a fake tensor moves at once"


def writes_real_tensor(what: str, argument: str) -> FakeTensorError:
    """The error about a real tensor that is to receive the result of fake ones."""
    return FakeTensorError(
        f"{what} would write values of a fake tensor, which has none, into the real tensor given as {argument!r}; "
        "make that tensor in fake mode too, or make the other one outside of it"
    )


_ATEN = torch.ops.aten


def check_as_eager_does(func: OpOverload, args: Sequence[object], kwargs: Mapping[str, object]) -> None:
    """Raise what the operation raises for real tensors with these devices."""
    if kwargs.get("pin_memory"):
        raise has_no_memory("pin_memory=True", NO_PINNING)
    if kwargs.get("generator") is not None:
        _check_generator(args, kwargs)
    check = _CHECKS.get(func)
    if check is not None:
        check(args)


def _check_generator(args: Sequence[object], kwargs: Mapping[str, object]) -> None:
    """A generator has to be on the device of the numbers that it draws."""
    generator = kwargs["generator"]
    device = args[0].device if args and isinstance(args[0], Tensor) else kwargs.get("device") or torch.device("cpu")
    if not isinstance(generator, torch.Generator) or not isinstance(device, torch.device):
        return
    if generator.device.type != device.type and device.type != "meta":
        raise RuntimeError(f"Expected a '{device.type}' device type for generator but found '{generator.device.type}'")


def _check_convolution(args: Sequence[object]) -> None:
    """Input, weight and bias have to be of one dtype on one device."""
    given = [argument for argument in args[:3] if isinstance(argument, FakeTensor)]
    FakeTensor._find_common_device(_ATEN.convolution.default, given)
    _check_product(given)


def _check_indices(args: Sequence[object]) -> None:
    """Indices are on the CPU, or where the indexed tensor is."""
    indexed, indices = args[0], args[1]
    if not isinstance(indexed, Tensor) or not isinstance(indices, (list, tuple)):
        return
    for index in indices:
        if isinstance(index, Tensor) and index.device.type != "cpu" and index.device != indexed.device:
            raise RuntimeError(
                f"indices should be either on cpu or on the same device as the indexed tensor ({indexed.device})"
            )


def _check_view(args: Sequence[object]) -> None:
    """A view needs strides that allow it; torch's rule copies instead."""
    tensor, size = cast(Tensor, args[0]), cast(Sequence[int], args[1])
    if tensor.layout == torch.strided and not tensor.is_contiguous():
        with no_dispatch():
            torch.empty_strided(tensor.size(), tensor.stride(), device="meta").view(size)


def _check_product(args: Sequence[object]) -> None:
    """Factors, and what a product is added to, have to be of one dtype; torch's rule takes the first."""
    first, *others = (argument.dtype for argument in args if isinstance(argument, Tensor))
    for other in others:
        if other != first:
            raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {first} != {other}")


def _check_batched_product(args: Sequence[object]) -> None:
    """The same, but batches without elements are not looked at."""
    if all(argument.numel() for argument in args if isinstance(argument, Tensor)):
        _check_product(args)


_CHECKS: dict[object, Callable[[Sequence[object]], None]] = {
    _ATEN.convolution.default: _check_convolution,
    _ATEN.view.default: _check_view,
    _ATEN.mm.default: _check_product,
    _ATEN.bmm.default: _check_batched_product,
    _ATEN.mv.default: _check_product,
    _ATEN.addmm.default: _check_product,
    _ATEN.baddbmm.default: _check_batched_product,
    _ATEN.index.Tensor: _check_indices,
    _ATEN.index_put.default: _check_indices,
    _ATEN.index_put_.default: _check_indices,
    _ATEN._index_put_impl_.default: _check_indices,
}


_GROUPED_MM = torch.ops.aten._grouped_mm.default


def rule_for(func: object, args: Sequence[object]) -> Callable[..., Tensor] | None:
    """The function that makes the result of an operation, if torch's rule would refuse it."""
    if func is _GROUPED_MM and cast(Tensor, args[0]).dtype != torch.bfloat16:
        return _grouped_mm
    return None


def _grouped_mm(
    left: Tensor,
    right: Tensor,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: torch.dtype | None = None,
) -> Tensor:
    """The experts of a mixture, in other dtypes than bfloat16, which is all that torch's rule knows."""
    FakeTensor._find_common_device(_GROUPED_MM, [left, right, offs])
    rows = left.size(-2)
    shape: tuple[int, ...]
    if left.dim() == 3 and right.dim() == 3:
        shape = (left.size(0), rows, right.size(-1))
    elif left.dim() == 2 and right.dim() == 2 and offs is not None:
        shape = (offs.size(0), rows, right.size(-1))
    else:
        shape = (rows, right.size(-1))
    return left.new_empty(shape, dtype=out_dtype or left.dtype)
