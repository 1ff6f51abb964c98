"""Objects as pytrees whose fields are not all tensors that the batch carries; and what vmap makes of them."""

from __future__ import annotations

from typing import Any

from torch import Size, Tensor
from torch._C._functorch import is_batchedtensor
from torch.compiler import is_dynamo_compiling, is_exporting

from ..core.contents import allocate_like, tensors_of
from ..core.stored import Stored
from ..fields.per_item import as_constants, fitted, original
from .pytree import Hidden, Layout, apart, layout_of, shape_of


def flatten_some(names: tuple[str, ...], ordered: tuple[str, ...], self: Stored) -> tuple[list[Any], Layout]:
    """`_flatten` of an object with Unbatched fields or containers: the tensors that the batch carries say its size.

    The children are `ordered`; `names` are the fields as they are stored.
    """
    values, static = self._field_values()
    by_name = dict(zip(names, values, strict=True))
    present = [(name, by_name[name]) for name in ordered if by_name[name] is not None]
    carried = apart(value for name, value in present if name not in self._unbatched)
    unbatched = tuple((name, _fewest(value)) for name, value in present if name in self._unbatched)
    children = tuple(name for name, _ in present)
    static = tuple([original(value) for value in static])
    if self._per_item and is_dynamo_compiling() and is_exporting():
        static = tuple([as_constants(value) for value in static])
    layout = layout_of(self, children, static, carried, unbatched)
    return [value for _, value in present], layout


def carried(cls: type[Stored], children: list[Any], layout: Layout) -> list[Any]:
    """The children that the batch carries.

    Raises:
        TypeError: `torch.vmap` takes an Unbatched child apart.
    """
    dimensions = dict(layout.unbatched)
    for name, child in zip(layout.names, children, strict=True):
        if any(_is_taken_apart(one, dimensions.get(name, 0)) for one in tensors_of(child)):
            raise TypeError(
                f"{cls.__name__}.{name} is the same for a whole batch, and torch.vmap takes it apart with the rest; "
                "use batch.vmap(function), which passes it on"
            )
    return apart(child for name, child in zip(layout.names, children, strict=True) if name not in dimensions)


def alone_in(batch_size: Size, batch_ndim: int, child: Stored) -> Stored:
    """Such an object, fitted to its holder, which had `batch_ndim` batch dimensions before."""
    size = batch_size + child._batch_size[batch_ndim:]
    if size == child._batch_size:
        return child
    values, static = child._field_values()
    fitting = [alone_in(batch_size, batch_ndim, value) if isinstance(value, Stored) else value for value in values]
    items = tuple([fitted(original(value), size) for value in static])
    out = allocate_like(child)._assign(fitting, items, size, child._device)
    out._names = child._names if len(size) == len(child._batch_size) else None
    return out


def _fewest(value: object) -> int:
    """The smallest number of dimensions among the tensors of a field."""
    dims = [len(shape_of(one)) for one in tensors_of(value)]
    return min(dims) if dims else 0  # dynamo knows no `default=`


def _is_taken_apart(child: object, dimensions: int) -> bool:
    """True if vmap hides a dimension of a tensor that had so many. Torch has no public way to ask."""
    return isinstance(child, Tensor) and child.dim() < dimensions and is_batchedtensor(child)


def refuse_event_dimension(cls: type[Stored], hidden: Hidden, batch_ndim: int, child: object) -> None:
    """Refuse `out_dims` that put the dimension of vmap behind the batch dimensions of a field.

    The tree is not told where it was put; but the tensor is a view of the one inside, so that its sizes and strides tell.

    Raises:
        ValueError: it stands there.
    """
    if not isinstance(child, Tensor) or child.dim() != len(hidden.shape) + 1:
        return
    sizes, strides = child.shape, child.stride()
    places = [
        at
        for at in range(child.dim())
        if (*sizes[:at], *sizes[at + 1 :]) == hidden.shape
        and (*strides[:at], *strides[at + 1 :]) == hidden.stride
        and strides[at] == hidden.hidden_stride
    ]
    # Where several places look alike, it may stand in the first of them, which may be right.
    if places and places[0] > batch_ndim:
        places_expected = "0" if batch_ndim == 0 else f"0 to {batch_ndim}"
        raise ValueError(
            f"vmap: out_dims puts the dimension among those that the fields of {cls.__name__} have beyond the batch; "
            f"expected {places_expected} for results of {batch_ndim} batch dimension{'' if batch_ndim == 1 else 's'}"
        )
