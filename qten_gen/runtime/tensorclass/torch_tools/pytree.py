"""TensorClasses as pytrees (`torch.utils._pytree`), which vmap, compile and export take their arguments apart with."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any, NamedTuple, TypeGuard, TypeVar, cast

import torch
from torch import Size, Tensor
from torch._C._functorch import get_unwrapped, is_batchedtensor, maybe_current_level, maybe_get_bdim, maybe_get_level
from torch.compiler import is_dynamo_compiling
from torch.utils import _pytree

from ..core import late
from ..core.contents import batched_leaves, tensor_and_nested, tensors_of
from ..core.dimension_names import Names
from ..core.stored import Stored


class Hidden(NamedTuple):
    """A tensor inside of vmap."""

    shape: Size
    stride: tuple[int, ...]
    hidden_stride: int
    """The stride of the dimension that is hidden; 0 where the tensor has none, and is expanded."""


class Layout(NamedTuple):
    """The facts that a tree keeps of an object beside its children.

    Batch size and device are found again from the children, so that objects of different batch sizes have one structure, and
    `vmap` sees one batch dimension less inside. An object without tensors that carry the batch keeps its own in `alone`; where
    another object holds it, that gives it what fits: see `_alone_in`.
    """

    names: tuple[str, ...]
    """The children: tensor and nested fields that are not None."""
    static: tuple[object, ...]
    event_ndim: int
    """How many dimensions the first child that carries the batch has beyond the batch dimensions."""
    batch_ndim: int
    """How many batch dimensions there were."""
    has_device: bool
    alone: tuple[Size, torch.device | None] | None
    unbatched: tuple[tuple[str, int], ...] = ()
    """The Unbatched children, and how many dimensions each has at least."""
    dimension_names: Names | None = None
    hidden: Hidden | None = None
    """Inside of vmap, how the first child lies in memory, whose dimension comes back in a place that only that tells."""

    def __eq__(self, other: object) -> bool:
        # What the children themselves say is not compared: a tree of numbers has to fit one of tensors, for `in_dims`.
        if self is other:
            return True
        if not isinstance(other, Layout) or self.names != other.names or len(self.static) != len(other.static):
            return False
        if self.static is other.static or not self.static:
            return True
        from ..fields.same_values import equal  # few objects have static values that are not the very same

        return all(map(equal, self.static, other.static))

    # The one of a tuple would compare all attributes.
    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.names, *map(_hash, self.static)))


def _hash(value: object) -> int:
    """A number that equal static values share. Arrays and mutable values have no hash of their own, and each NaN has another."""
    try:
        return hash(value) if value == value else 0
    except (TypeError, ValueError):
        return 0


def layout_of(
    self: Stored,
    names: tuple[str, ...],
    static: tuple[object, ...],
    carried: list[Any],
    unbatched: tuple[tuple[str, int], ...],
) -> Layout:
    """The layout of any object. `carried` are the children that the batch carries."""
    batch_ndim = len(self._batch_size)
    for child in carried:
        if not is_alone(child):
            own = dims_of(child) - batch_ndim
            return Layout(
                names, static, own, batch_ndim, self._device is not None, None, unbatched, self._names, hidden_in(child)
            )
    return Layout(names, static, 0, batch_ndim, False, (self._batch_size, self._device), unbatched, self._names)


def apart(children: Iterable[Any]) -> list[Any]:
    """The children, with the tensors of a dict or list in its place."""
    return [one for child in children for one in tensors_of(child)]


def is_alone(child: Any) -> TypeGuard[Stored]:
    """True if a child is an object without tensors that could say what has become of its batch size."""
    if isinstance(child, Tensor) or not isinstance(getattr(child, "_batch_size", None), Size):
        return False
    return not batched_leaves(child)


def hidden_in(child: object) -> Hidden | None:
    """How a child lies in memory where vmap hides a dimension of it; None outside, where nothing is hidden."""
    level = None if is_dynamo_compiling() else maybe_current_level()
    if level is None or not isinstance(child, Tensor):
        return None
    hides = is_batchedtensor(child) and maybe_get_level(child) == level
    return Hidden(child.shape, child.stride(), get_unwrapped(child).stride(maybe_get_bdim(child)) if hides else 0)


def dims_of(child: Any) -> int:
    """How many dimensions a child has that the batch size can be of."""
    return child.dim() if isinstance(child, Tensor) else len(shape_of(child))


def shape_of(child: Any) -> Size:
    """Shape of a tensor, batch size of a nested object; a marker has no dimensions."""
    if isinstance(child, Tensor):
        return child.shape
    size = getattr(child, "_batch_size", None)
    return size if isinstance(size, Size) else Size()


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


def _register(cls: type[T], flatten: Flatten, unflatten: Callable[[Iterable[Any], Layout], T]) -> None:
    _pytree.register_pytree_node(
        cls,
        flatten,
        unflatten,
        flatten_with_keys_fn=partial(_flatten_keyed, flatten),
        serialized_type_name=f"{cls.__module__}.{cls.__qualname__}",
        to_dumpable_context=lambda layout: late.json_values.dump_layout(cls, layout),
        from_dumpable_context=lambda text: late.json_values.load_layout(cls, text),
    )


def _both_ways(cls: type[T]) -> tuple[Flatten, Callable[[Iterable[Any], Layout], T]]:
    """The functions that take objects of a class apart, and put them together again."""
    names = tensor_and_nested(cls)
    ordered = _in_order_for_export(names)
    if names == ordered and names and not (cls._unbatched or cls._containers or cls._per_item):
        return _flattening(names), _unflattening(cls, names)
    return partial(late.uncommon_trees.flatten_some, names, ordered), partial(_unflatten, cls, names)


def _in_order_for_export(names: tuple[str, ...]) -> tuple[str, ...]:
    """The fields in the order of the children: as declared, but where one name begins with another, the longer ones first.

    `torch.export` replaces the path of one child after the other in the text of its guards, and would find `text` in `text_mask`.
    """
    if any(one != other and one.startswith(other) for one in names for other in names):
        return tuple(sorted(names, key=len, reverse=True))
    return names


def _flattening(names: tuple[str, ...]) -> Flatten:
    """The function that takes objects apart whose tensor and nested fields, `names`, all carry the batch."""
    # The layouts of most objects, by what differs between them: made once, and compared by identity.
    usual: dict[tuple[int, int, bool], Layout] = {}

    def flatten(self: Stored) -> tuple[list[Any], Layout]:
        """The children of an object and its layout. Layouts of usual objects are made once, so that specs compare fast."""
        values, static = self._field_values()
        # A loop, because `None in values` would call the `==` of tensors.
        for value in values:
            if value is None:
                return _flatten(names, self)
        first, batch_ndim = values[0], len(self._batch_size)
        if not isinstance(first, Tensor) and is_alone(first):
            return _flatten(names, self)
        key = dims_of(first) - batch_ndim, batch_ndim, self._device is not None
        if not is_dynamo_compiling() and maybe_current_level() is not None:
            return [*values], Layout(names, static, *key, None, (), self._names, hidden_in(first))
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
    return children, layout_of(self, names, static, children, ())


def _flatten_keyed(flatten: Flatten, self: Stored) -> tuple[list[tuple[Any, Any]], Layout]:
    children, layout = flatten(self)
    return [(_pytree.GetAttrKey(name), child) for name, child in zip(layout.names, children, strict=True)], layout


def _unflattening(cls: type[T], names: tuple[str, ...]) -> Callable[[Iterable[Any], Layout], T]:
    """The function that makes the object of a layout around new children: results of a function, markers, or anything."""
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
                # Without tensors it does not follow a change of the dimensions: `_unflatten` fits it.
                other = None if batch_ndim != before and is_alone(child) else getattr(child, "_batch_size", None)
            # The usual sizes first: to slice one takes five times as long as to compare two.
            if other != shape and other != size and (other is None or other[:batch_ndim] != size):
                return _unflatten(cls, names, found, layout)
        if batch_ndim < 0:
            return _unflatten(cls, names, found, layout)
        if hidden is not None:
            late.uncommon_trees.refuse_event_dimension(cls, hidden, before, first)
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
        carried = late.uncommon_trees.carried(cls, found, layout) if layout.unbatched else apart(found)
        some_alone = any(is_alone(child) for child in found)
        if some_alone:
            carried = [child for child in carried if not is_alone(child)]
        batch_size = _common(carried, layout.event_ndim)
        if layout.hidden is not None and carried:
            late.uncommon_trees.refuse_event_dimension(cls, layout.hidden, layout.batch_ndim, carried[0])
        device = _device(carried[0]) if carried and layout.has_device else None
        if some_alone:
            found = [
                late.uncommon_trees.alone_in(batch_size, layout.batch_ndim, child) if is_alone(child) else child
                for child in found
            ]
    if layout.names != names:
        present = dict(zip(layout.names, found, strict=True))
        found = [present.get(name) for name in names]
    out._assign(found, _static(cls, layout, batch_size), batch_size, device)
    if cls.__structure__ and all(isinstance(child, (Tensor, Stored)) for child in found):  # no markers
        why = ".lengths, which a function of a tree changed"
        cast(Any, out).refuse_damaged(why, "; use apply, which leaves them out")
    if layout.dimension_names is not None and len(layout.dimension_names) == len(batch_size):
        out._names = layout.dimension_names  # lost where vmap, or another function of a tree, changes the dimensions
    return out


def _static(cls: type[Stored], layout: Layout, batch_size: Size) -> tuple[object, ...]:
    if not cls._per_item:
        return layout.static
    from ..fields.per_item import fitted, from_constants  # few classes have such fields

    return tuple([fitted(from_constants(value), batch_size) for value in layout.static])


def _common(children: list[Any], event_ndim: int) -> Size:
    """The first child's dimensions without its last `event_ndim`, as far as all children share them; none without children."""
    if not children:
        return Size()
    first = shape_of(children[0])
    size = first[: max(len(first) - event_ndim, 0)]
    for child in children[1:]:
        shape = shape_of(child)
        while shape[: len(size)] != size:
            size = size[:-1]
    return size


def _device(child: Any) -> torch.device | None:
    return child.device if isinstance(child, Tensor) else getattr(child, "_device", None)
