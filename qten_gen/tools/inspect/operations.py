"""Counts floating point operations: torch's counter, with what it has no formula for on fake tensors of a CPU.

These are the attention of a CPU, the products of groups that mixtures of experts make, products with a vector, and a fused LSTM.
Without them, a model would silently seem cheaper than it is.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import torch
from torch.utils.flop_counter import FlopCounterMode, flop_registry

Shape = tuple[int, ...]


def counter() -> FlopCounterMode:
    """A mode that counts the operations in its block."""
    known = {getattr(torch.ops.aten, name, None): formula for name, formula in _FORMULAS.items()}
    known.pop(None, None)  # this version of torch has no such operation
    missing = {operation: formula for operation, formula in known.items() if operation not in flop_registry}
    return FlopCounterMode(display=False, custom_mapping=missing)


def _vector(first: Shape, second: Shape, *args: object, **keywords: object) -> int:
    """A matrix times a vector."""
    return 2 * prod(first)


def _groups(first: Shape, second: Shape, *args: object, **keywords: object) -> int:
    """Products of groups of rows or columns, which together are all of them; or one product for each pair of matrices."""
    matrices = first if len(second) > 2 else first[-2:]
    return 2 * prod(matrices) * prod(second[-1:])


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


_FORMULAS: dict[str, Callable[..., int]] = {
    "mv": _vector,
    "_grouped_mm": _groups,
    "_scaled_dot_product_flash_attention_for_cpu": _attention,
    "_scaled_dot_product_flash_attention_for_cpu_backward": _attention_backward,
    "mkldnn_rnn_layer": _recurrent,
    "mkldnn_rnn_layer_backward": _recurrent_backward,
}
