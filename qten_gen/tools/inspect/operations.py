"""Counts floating point operations: torch's counter, with the matrix products and attention that it has no formula for.

It knows `mm`, `bmm` and convolutions, but not the attention of a CPU, products of groups (mixtures of experts), products with a
vector, and a fused LSTM. Without these, a model would silently seem cheaper than it is.

Torch's counter also follows the modules that are called, which fails where a module contains itself. The recorder knows the
modules already, so that is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import prod
from typing import TYPE_CHECKING

import torch
from torch._ops import OpOverload
from torch.utils.flop_counter import FlopCounterMode, _FlopCounterMode, flop_registry

if TYPE_CHECKING:
    from typing import Self

Shape = tuple[int, ...]
Formula = Callable[..., int]


def counter() -> FlopCounterMode:
    """A mode that counts the operations in its block."""
    aten = torch.ops.aten
    known = {getattr(aten, name, None): formula for name, formula in _FORMULAS.items()}
    missing = {operation: formula for operation, formula in known.items() if operation not in flop_registry}
    missing.pop(None, None)  # this version of torch has no such operation
    return _Counter(display=False, custom_mapping=missing)


class _Counter(FlopCounterMode):
    """Torch's counter for a whole program, whatever modules it calls."""

    def __enter__(self) -> Self:
        self.flop_counts.clear()
        self.mod_tracker = _Everywhere()  # type: ignore[assignment] # in place of torch's
        self.mode = _CountingMode(self)
        self.mode.__enter__()  # type: ignore[no-untyped-call] # torch gives it no types
        return self


class _Everywhere:
    """Says that everything happens in no module, in place of torch's tracker of modules."""

    parents = frozenset({"Global"})

    def __exit__(self, *_: object) -> None:
        """As the tracker, which takes its hooks away."""


class _CountingMode(_FlopCounterMode):  # type: ignore[no-untyped-call] # torch leaves its __init_subclass__ untyped
    """Hands on what is neither counted nor made of other operations: most calls, reads of a device among them."""

    def __torch_dispatch__(
        self,
        func: object,
        types: Sequence[type],
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        if isinstance(func, OpOverload) and _is_whole(func) and func._overloadpacket not in self.counter.flop_registry:
            return func(*args, **(kwargs or {}))
        found: object = super().__torch_dispatch__(func, types, args, kwargs)  # type: ignore[no-untyped-call] # the same
        return found


@cache
def _is_whole(func: OpOverload) -> bool:
    """Whether torch's counter takes an operation as it is: it leaves those that return sizes to others, and takes some apart."""
    if func is torch.ops.prim.device.default:
        return True
    returns_tensors = any("Tensor" in str(result.type) for result in func._schema.returns)
    return returns_tensors and not func.has_kernel_for_dispatch_key(torch._C.DispatchKey.CompositeImplicitAutograd)


def _product(first: Shape, second: Shape, *args: object, **keywords: object) -> int:
    """A matrix or vector times a matrix or vector."""
    columns = second[1:]
    return 2 * prod(first) * (columns[-1] if columns else 1)


def _product_added(_: object, first: Shape, second: Shape, *args: object, **keywords: object) -> int:
    """A product, or a batch of them, that is added to something."""
    return _product(first, second)


def _groups(first: Shape, second: Shape, *args: object, **keywords: object) -> int:
    """Products of groups of rows or columns, which together are all of them; or one product for each pair of matrices."""
    matrices = first if len(second) > 2 else first[-2:]
    return 2 * prod(matrices) * prod(second[-1:])


def _distances(first: Shape, second: Shape, *args: object, **keywords: object) -> int:
    """The product of all pairs, which their distances are computed from."""
    return 2 * prod(first) * second[-2]


def _attention(query: Shape, key: Shape, value: Shape, *args: object, **keywords: object) -> int:
    """Two products for each head of the queries. A mask, also `is_causal`, saves nothing, as in torch's formulas."""
    return 2 * prod(query[:-1]) * key[-2] * (query[-1] + value[-1])


def _attention_backward(
    gradient: Shape, query: Shape, key: Shape, value: Shape, *args: object, **keywords: object
) -> int:
    """The scores anew, then the gradients of value, weights, query and key."""
    return 2 * prod(query[:-1]) * key[-2] * (3 * query[-1] + 2 * value[-1])


def _recurrent(inputs: Shape, weight: Shape, hidden_weight: Shape, *args: object, **keywords: object) -> int:
    """All steps of a layer: input and state times their weights."""
    return 2 * prod(inputs[:-1]) * (prod(weight) + prod(hidden_weight))


def _recurrent_backward(inputs: Shape, weight: Shape, hidden_weight: Shape, *args: object, **keywords: object) -> int:
    """The gradients of inputs and weights."""
    return 2 * _recurrent(inputs, weight, hidden_weight)


def _bilinear(
    first: Shape,
    weight: Shape,
    second: Shape,
    expand_first: list[int],
    expand_weight: list[int],
    expand_second: list[int],
    *args: object,
    **keywords: object,
) -> int:
    """Two multiplications and a sum over everything; the second multiplication is as cheap as the rest of a product."""
    expanded = zip((first, weight, second), (expand_first, expand_weight, expand_second), strict=True)
    shapes = [_expanded(shape, dims) for shape, dims in expanded]
    return 2 * int(prod(max(sizes) for sizes in zip(*shapes, strict=True)))


def _expanded(shape: Shape, dims: list[int]) -> Shape:
    """A shape with dimensions of size 1 at some places, from the first on."""
    found = list(shape)
    for dim in sorted(dims):
        found.insert(dim, 1)
    return tuple(found)


_FORMULAS: dict[str, Formula] = {
    "mv": _product,
    "dot": _product,
    "vdot": _product,
    "_int_mm": _product,
    "addmv": _product_added,
    "addbmm": _product_added,
    "_grouped_mm": _groups,
    "_scaled_grouped_mm": _groups,
    "_euclidean_dist": _distances,
    "_scaled_dot_product_flash_attention_for_cpu": _attention,
    "_scaled_dot_product_flash_attention_for_cpu_backward": _attention_backward,
    "_scaled_dot_product_fused_attention_overrideable": _attention,
    "_scaled_dot_product_fused_attention_overrideable_backward": _attention_backward,
    "mkldnn_rnn_layer": _recurrent,
    "mkldnn_rnn_layer_backward": _recurrent_backward,
    "_trilinear": _bilinear,
}
