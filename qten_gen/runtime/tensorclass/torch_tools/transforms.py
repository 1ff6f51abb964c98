"""`batch.vmap(fn)`: a function of one item, for all items along a batch dimension at once.

It is `torch.vmap` for one object, made of the same parts of torch. `torch.vmap` takes arguments and results apart as trees,
and puts them together again. Here the object itself hides the dimension: that takes a third of the time, and fields that the
batch does not carry, or that hold Python values, stay what they are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal, TypeVar, cast

from torch import Tensor
from torch._C._functorch import is_batchedtensor, maybe_get_level
from torch._functorch.vmap import _add_batch_dim, _remove_batch_dim, lazy_load_decompositions, vmap_increment_nesting  # type: ignore[attr-defined] # where torch 2.6 defines them
from torch.utils import _pytree

from ..core import dimension_names
from ..core.contents import ragged_fields, unbatched_leaves
from ..core.error_text import describe
from ..core.sizes import Dim, dimension, with_inserted, without
from ..core.stored import Stored

T = TypeVar("T", bound=Stored)
R = TypeVar("R")


def vmap(
    self: T,
    function: Callable[[T], R],
    dim: Dim = 0,
    out_dim: int = 0,
    *,
    randomness: Literal["error", "different", "same"] = "error",
) -> R:
    """`function` of each item along a batch dimension, computed for all items at once, as `torch.vmap` does.

    >>> batch = Batch(torch.tensor([1.0, 2.0]), batch_size=2)
    >>> batch.vmap(torch.func.grad(lambda item: item.tokens.square())).tokens
    tensor([2., 4.])

    The function gets an object without that dimension. It returns a tensor, an object, or a tuple, list or dict of these, which
    then have the dimension again. Fields that the batch does not carry are passed on as they are.

    Args:
        function: What is computed of each item. It may use other tensors, which are the same for all items.
        dim: The batch dimension to map over.
        out_dim: Where the dimension is in the results; in objects among the batch dimensions.
        randomness: Whether random numbers are refused, different for each item, or the same, as for `torch.vmap`.

    Raises:
        IndexError: there is no such batch dimension.
        TypeError: the function returns something else, or a value for each item in a field that the batch does not carry; or a
            field is Ragged.
    """
    for where, _ in ragged_fields(self):
        raise TypeError(f"{where} is Ragged, and vmap cannot map over items of different lengths; use .padded()")
    at = dimension(self, dim)
    size = self._batch_size
    length = size[at]
    # As `torch.vmap` does: `addr` and some losses have no batching rule before.
    lazy_load_decompositions()
    with vmap_increment_nesting(length, randomness) as level:
        item = self._rearrange(_hide, (at, level), without(size, at))
        if self._names is not None:
            item._names = dimension_names.without(self._names, (at,))
        result = function(item)
        show = partial(_shown, level, length, out_dim)
        alone = isinstance(result, (Tensor, Stored))
        return cast(R, show(result) if alone else _pytree.tree_map(show, result, is_leaf=_is_object))


def _hide(tensor: Tensor, argument: tuple[int, int]) -> Tensor:
    """The tensor without a dimension, which operations at a level of vmap go over."""
    at, level = argument
    return _add_batch_dim(tensor, at, level)


def _show(tensor: Tensor, argument: tuple[int, int, int]) -> Tensor:
    """The tensor with the dimension that was hidden; one of which it knows nothing is expanded."""
    level, length, at = argument
    return _remove_batch_dim(tensor, level, length, at)


def _shown(level: int, length: int, out_dim: int, result: object) -> object:
    """A part of what the function returned, for all items."""
    if isinstance(result, Tensor):
        return _show(result, (level, length, out_dim))
    if not isinstance(result, Stored):
        raise TypeError(f"vmap: expected the function to return tensors or objects, got {describe(result)}")
    dims = len(result._batch_size) + 1
    if not -dims <= out_dim < dims:
        kind = type(result).__name__
        raise IndexError(f"vmap: expected out_dim from {-dims} to {dims - 1} for results of {kind}, got {out_dim}")
    at = out_dim % dims
    shown = result._rearrange(_show, (level, length, at), with_inserted(result._batch_size, at, length))
    shown._names = dimension_names.inserted(result._names, at)
    for name, tensor in unbatched_leaves(result):
        if is_batchedtensor(tensor) and maybe_get_level(tensor) == level:
            raise TypeError(
                f"vmap: {name} is the same for a whole batch, and the function gave it a value for each item"
            )
    return shown


def _is_object(value: object) -> bool:
    return isinstance(value, Stored)
