"""TensorClasses as pytrees (`torch.utils._pytree`), which vmap, compile and export take their arguments apart with."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any, TypeGuard, TypeVar

import torch
from torch import Size, Tensor
from torch._C._functorch import get_unwrapped, is_batchedtensor, maybe_current_level, maybe_get_bdim, maybe_get_level
from torch.compiler import is_dynamo_compiling
from torch.utils import _pytree

from ..core.contents import allocate_like, batched_leaves, tensor_and_nested, tensors_of
from ..core.stored import Stored
from ..core.tensor_shapes import dimension
from ..fields.entries import register_made_classes
from ..fields.per_item import fitted, original
from .tree_specs import Hidden, Layout, dumped, loaded

T = TypeVar("T", bound=Stored)

Flatten = Callable[[Stored], tuple[list[Any], Layout]]


def register(cls: type[Stored]) -> None:
    """Make a complete class known to pytree. Children are its tensors and nested objects; key paths are attribute names."""
    _register(cls, *_both_ways(cls))


def register_unfilled(cls: type[Stored]) -> None:
    """Make a class known to pytree whose tables are filled before the first object is made."""
    both_ways = cache(lambda: _both_ways(cls))
    _register(
        cls,
        lambda self: both_ways()[0](self),
        lambda children, layout: both_ways()[1](children, layout),
    )


def _register_entries(cls: type[Stored]) -> None:
    """Make a class of entries known: what pytree sees of a TensorDict in a field."""
    names = tensor_and_nested(cls)
    _register(cls, partial(_flatten_some, names), partial(_unflatten, cls, names))


register_made_classes(_register_entries)


def _register(cls: type[T], flatten: Flatten, unflatten: Callable[[Iterable[Any], Layout], T]) -> None:
    _pytree.register_pytree_node(
        cls,
        flatten,
        unflatten,
        flatten_with_keys_fn=partial(_flatten_keyed, flatten),
        serialized_type_name=f"{cls.__module__}.{cls.__qualname__}",
        to_dumpable_context=partial(dumped, cls),
        from_dumpable_context=loaded,
    )


def _both_ways(cls: type[T]) -> tuple[Flatten, Callable[[Iterable[Any], Layout], T]]:
    """What takes objects of a class apart, and what puts them together again."""
    names = tensor_and_nested(cls)
    if names and not _is_special(cls):
        return _flattening(names), _unflattening(cls, names)
    return partial(_flatten_some, names), partial(_unflatten, cls, names)


def _is_special(cls: type[Stored]) -> bool:
    return bool(cls._unbatched or cls._containers or cls._per_item)


def _flattening(names: tuple[str, ...]) -> Flatten:
    """What takes objects apart whose tensor and nested fields, `names`, all carry the batch."""
    # The layouts of most objects, by what differs between them: made once, and compared by identity.
    usual: dict[tuple[int, int, bool], Layout] = {}

    def flatten(self: Stored) -> tuple[list[Any], Layout]:
        """The children of an object and its layout. Layouts of usual objects are made once, so that specs compare fast."""
        values, static = self._field_values()
        for value in values:
            if value is None:
                return _flatten(names, self)
        first, batch_ndim = values[0], len(self._batch_size)
        if not isinstance(first, Tensor) and _is_alone(first):
            return _flatten(names, self)
        key = _dims(first) - batch_ndim, batch_ndim, self._device is not None
        if not is_dynamo_compiling() and maybe_current_level() is not None:
            return [*values], Layout(names, static, *key, None, (), self._names, _hidden(first))
        if static or self._names is not None:
            return [*values], Layout(names, static, *key, None, (), self._names)
        layout = usual.get(key)
        if layout is None:
            layout = usual[key] = Layout(names, (), *key, None)
        return [*values], layout

    return flatten


def _flatten(names: tuple[str, ...], self: Stored) -> tuple[list[Any], Layout]:
    """The children and the layout of an object that has fields without a value."""
    values, static = self._field_values()
    present = [(name, value) for name, value in zip(names, values, strict=True) if value is not None]
    children = [value for _, value in present]
    names = tuple([name for name, _ in present])
    return children, _layout(self, names, static, children, ())


def _flatten_some(names: tuple[str, ...], self: Stored) -> tuple[list[Any], Layout]:
    """`_flatten` of an object with Unbatched fields or containers: the tensors that the batch carries say its size."""
    values, static = self._field_values()
    present = [(name, value) for name, value in zip(names, values, strict=True) if value is not None]
    carried = _apart(value for name, value in present if name not in self._unbatched)
    unbatched = tuple((name, _fewest(value)) for name, value in present if name in self._unbatched)
    children = tuple(name for name, _ in present)
    static = tuple([original(value) for value in static])
    layout = _layout(self, children, static, carried, unbatched)
    return [None if value is _NO_DIM else value for _, value in present], layout


def _layout(
    self: Stored,
    names: tuple[str, ...],
    static: tuple[object, ...],
    carried: list[Any],
    unbatched: tuple[tuple[str, int], ...],
) -> Layout:
    """The layout of any object. `carried` are its children, without those that the batch does not carry."""
    batch_ndim = len(self._batch_size)
    for child in carried:
        if not _is_alone(child):
            own = _dims(child) - batch_ndim
            return Layout(
                names, static, own, batch_ndim, self._device is not None, None, unbatched, self._names, _hidden(child)
            )
    return Layout(names, static, 0, batch_ndim, False, (self._batch_size, self._device), unbatched, self._names)


def _flatten_keyed(flatten: Flatten, self: Stored) -> tuple[list[tuple[Any, Any]], Layout]:
    children, layout = flatten(self)
    return [(_pytree.GetAttrKey(name), child) for name, child in zip(layout.names, children, strict=True)], layout


def _unflattening(cls: type[T], names: tuple[str, ...]) -> Callable[[Iterable[Any], Layout], T]:
    """What makes the object of a layout around new children, which may be anything: results of a function, or markers."""
    count = len(names)

    def unflatten(children: Iterable[Any], layout: Layout) -> T:
        """An object of children and a layout; the batch size follows from the shapes of the tensors, which vmap changes."""
        found = children if type(children) is list else [*children]
        _, static, event_ndim, before, has_device, _, _, dimension_names, hidden = layout
        first = found[0] if len(found) == count and dimension_names is None else None
        if not isinstance(first, Tensor):
            if isinstance(first, int):  # of `in_dims` and `out_dims`, which `vmap` puts in place of the tensors
                marked: T = object.__new__(cls)
                return marked._fill(*found, *static, Size(), None)
            return _unflatten(cls, names, found, layout)
        shape = first.shape
        batch_ndim = len(shape) - event_ndim
        size = shape[:batch_ndim]
        for child in found[1:]:
            if isinstance(child, Tensor):
                other: Size | None = child.shape
            else:
                other = None if batch_ndim != before and _is_alone(child) else getattr(child, "_batch_size", None)
            if other != shape and other != size and (other is None or other[:batch_ndim] != size):
                return _unflatten(cls, names, found, layout)
        if batch_ndim < 0:
            return _unflatten(cls, names, found, layout)
        if hidden is not None:
            _refuse_beyond(cls, hidden, before, first)
        out: T = object.__new__(cls)
        return out._fill(*found, *static, size, first.device if has_device else None)

    return unflatten


def _unflatten(cls: type[T], names: tuple[str, ...], children: Iterable[Any], layout: Layout) -> T:
    """The object of any layout around any children."""
    found = list(children)
    out: T = object.__new__(cls)
    if layout.alone is not None:
        batch_size, device = layout.alone
    else:
        carried = _carried(cls, found, layout) if layout.unbatched else _apart(found)
        some_alone = any(_is_alone(child) for child in found)
        if some_alone:
            carried = [child for child in carried if not _is_alone(child)]
        batch_size = _common(carried, layout.event_ndim)
        if layout.hidden is not None and carried:
            _refuse_beyond(cls, layout.hidden, layout.batch_ndim, carried[0])
        device = _device(carried[0]) if carried and layout.has_device else None
        if some_alone:
            found = [_alone_in(batch_size, layout.batch_ndim, child) if _is_alone(child) else child for child in found]
    if len(found) < len(names):
        present = dict(zip(layout.names, found, strict=True))
        found = [present.get(name) for name in names]
    out._assign(found, _static(cls, layout, batch_size), batch_size, device)
    if layout.dimension_names is not None and len(layout.dimension_names) == len(batch_size):
        out._names = layout.dimension_names
    return out


def _static(cls: type[Stored], layout: Layout, batch_size: Size) -> tuple[object, ...]:
    return tuple([fitted(value, batch_size) for value in layout.static]) if cls._per_item else layout.static


def _carried(cls: type[Stored], children: list[Any], layout: Layout) -> list[Any]:
    """The children that the batch carries.

    Raises:
        TypeError: `vmap` takes an Unbatched child apart, which it does unless `in_dims` says otherwise.
    """
    dimensions = dict(layout.unbatched)
    for name, child in zip(layout.names, children, strict=True):
        if any(_is_taken_apart(one, dimensions.get(name, 0)) for one in tensors_of(child)):
            raise TypeError(
                f"{cls.__name__}.{name} is the same for a whole batch, and vmap takes it apart with the rest; "
                "say in_dims=(batch.vmap_dims(),) for a call with `batch`"
            )
    return _apart(child for name, child in zip(layout.names, children, strict=True) if name not in dimensions)


def _apart(children: Iterable[Any]) -> list[Any]:
    """The children, with the tensors of a dict or list in its place."""
    return [one for child in children for one in tensors_of(child)]


def _is_alone(child: Any) -> TypeGuard[Stored]:
    """Whether a child is an object without tensors that could say what has become of its batch size."""
    if isinstance(child, Tensor) or not isinstance(getattr(child, "_batch_size", None), Size):
        return False
    return not batched_leaves(child)


def _alone_in(batch_size: Size, batch_ndim: int, child: Stored) -> Stored:
    """Such an object, fitted to its holder, which had `batch_ndim` batch dimensions before."""
    size = batch_size + child._batch_size[batch_ndim:]
    if size == child._batch_size:
        return child
    values, static = child._field_values()
    fitting = [_alone_in(batch_size, batch_ndim, value) if isinstance(value, Stored) else value for value in values]
    items = tuple([fitted(original(value), size) for value in static])
    out = allocate_like(child)._assign(fitting, items, size, child._device)
    out._names = child._names if len(size) == len(child._batch_size) else None
    return out


def _fewest(value: object) -> int:
    """The smallest number of dimensions among the tensors of a field."""
    dims = [len(_shape(one)) for one in tensors_of(value)]
    return min(dims) if dims else 0  # dynamo knows no `default=`


def _is_taken_apart(child: object, dimensions: int) -> bool:
    """Whether vmap hides a dimension of a tensor that had so many. Torch has no public way to ask."""
    return isinstance(child, Tensor) and child.dim() < dimensions and is_batchedtensor(child)


def _hidden(child: object) -> Hidden | None:
    """How a child lies in memory where vmap hides a dimension of it; None outside, where nothing is hidden."""
    level = None if is_dynamo_compiling() else maybe_current_level()
    if level is None or not isinstance(child, Tensor):
        return None
    hides = is_batchedtensor(child) and maybe_get_level(child) == level
    return Hidden(child.shape, child.stride(), get_unwrapped(child).stride(maybe_get_bdim(child)) if hides else 0)


def _refuse_beyond(cls: type[Stored], hidden: Hidden, batch_ndim: int, child: object) -> None:
    """Raise the error of a dimension that vmap gives back, as its `out_dims` say, behind the batch dimensions.

    The tree is not told where it was put; but the tensor is a view of the one inside, so that its sizes and strides tell.

    Raises:
        ValueError: it stands among the dimensions that a field has beyond the batch.
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
    if places and places[0] > batch_ndim:
        places_expected = "0" if batch_ndim == 0 else f"0 to {batch_ndim}"
        raise ValueError(
            f"vmap: out_dims puts the dimension among those that the fields of {cls.__name__} have beyond the batch; "
            f"expected {places_expected} for results of {batch_ndim} batch dimension{'' if batch_ndim == 1 else 's'}"
        )


class _NoDim:
    """Type of `_NO_DIM`. A bare object would do, but dynamo does not look at the attributes of one."""


_NO_DIM = _NoDim()
"""In place of an Unbatched tensor, which vmap shall not take apart. A None would be an optional field without a value."""


def vmap_dims(self: Stored, dim: int = 0) -> object:
    """What to tell `torch.vmap` as `in_dims` or `out_dims`, so that it takes apart only what the batch carries.

    >>> batch = Batch(torch.arange(2), batch_size=2)
    >>> torch.vmap(lambda item: item.tokens * 2, in_dims=(batch.vmap_dims(),))(batch)
    tensor([0, 2])

    It is needed for classes with Unbatched fields, and says what `dim` says for all others.

    Args:
        dim: The batch dimension to map over.
    """
    at = dimension(self, dim)
    values, static = self._field_values()
    dims = [
        None if value is None else _dim(value, name in self._unbatched, at)
        for name, value in zip(tensor_and_nested(self), values, strict=True)
    ]
    return allocate_like(self)._assign(dims, static, self._batch_size, self._device)


def _dim(value: object, unbatched: bool, dim: int) -> object:
    if isinstance(value, dict):
        return dict.fromkeys(value, None if unbatched else dim)
    if isinstance(value, list):
        return [None if unbatched else dim] * len(value)
    if unbatched:
        return _NO_DIM
    return vmap_dims(value, dim) if isinstance(value, Stored) else dim


def _dims(child: Any) -> int:
    """How many dimensions a child has that the batch size can be of."""
    return child.dim() if isinstance(child, Tensor) else len(_shape(child))


def _common(children: list[Any], event_ndim: int) -> Size:
    """The first child's dimensions without its last `event_ndim`, as far as all children share them; none without children."""
    if not children:
        return Size()
    first = _shape(children[0])
    size = first[: max(len(first) - event_ndim, 0)]
    for child in children[1:]:
        shape = _shape(child)
        while shape[: len(size)] != size:
            size = size[:-1]
    return size


def _shape(child: Any) -> Size:
    """Shape of a tensor, batch size of a nested object; a marker has no dimensions."""
    if isinstance(child, Tensor):
        return child.shape
    size = getattr(child, "_batch_size", None)
    return size if isinstance(size, Size) else Size()


def _device(child: Any) -> torch.device | None:
    return child.device if isinstance(child, Tensor) else getattr(child, "_device", None)
