"""Recorded operations that make each element of a tensor for itself, so that a block can be made without the rest.

`chain_of` looks whether the operations that reach a tensor are of this kind, and `Chain.blocks` carries them out, block by block, in
buffers of a block's size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch.utils._pytree import tree_iter, tree_map_only

from .keyed_draws import BLOCK, Draw, Key, elementwise_fill
from .recorded import Operation, Slot
from .regions import Layout, layout_of, nests, pieces

_HALF = BLOCK // 2
"""Elements that torch computes with in one thread: its vector instructions and what is left over then do not depend on threads."""

_aten = torch.ops.aten

_MAKES_EMPTY = {"aten::empty", "aten::empty_like", "aten::new_empty", "aten::empty_strided", "aten::new_empty_strided"}
_MAKES_FILLED: Mapping[str, float | str] = {
    "aten::zeros": 0,
    "aten::zeros_like": 0,
    "aten::new_zeros": 0,
    "aten::ones": 1,
    "aten::ones_like": 1,
    "aten::new_ones": 1,
    "aten::full": "fill_value",
    "aten::full_like": "fill_value",
    "aten::new_full": "fill_value",
}
_COPIES = {"aten::copy_", "aten::_to_copy", "aten::clone", "aten::lift_fresh", "aten::lift_fresh_copy"}


@dataclass(frozen=True, slots=True)
class View:
    """Where a slot's elements lie."""

    storage: int
    layout: Layout
    dtype: torch.dtype


Apply = Callable[..., object]


@dataclass(frozen=True, slots=True)
class Step:
    """One operation on elements that lie at the same place of their storages."""

    out: View
    inputs: tuple[View, ...]
    apply: Apply | None
    """Takes the tensor to write to and the inputs. None for a draw."""
    draw: Draw | None = None


@dataclass(frozen=True, slots=True)
class Chain:
    """The steps that make a tensor, each element for itself."""

    steps: tuple[Step, ...]
    target: View
    numel: int
    """Elements of each of the storages."""

    def block(self, low: int, high: int) -> Tensor:
        """The elements `low` to `high` of the target's storage, where `low` is the start of a block."""
        buffers: dict[int, Tensor] = {}

        def at(view: View) -> Tensor:
            if view.storage not in buffers:
                buffers[view.storage] = torch.empty(high - low, dtype=view.dtype)
            return buffers[view.storage]

        for step in self.steps:
            out, inputs = at(step.out), [at(view) for view in step.inputs]
            if step.draw is not None:
                _draw(step.draw, step.out.layout, out, low, high)
            elif step.apply is not None:
                _apply(step.apply, step.out.layout, out, inputs, low, high)
        return at(self.target)


def _draw(draw: Draw, layout: Layout, out: Tensor, low: int, high: int) -> None:
    """Draw into the elements of a run of memory that lie in the block."""
    first, last = max(low, layout.offset), min(high, layout.end)
    if first < last:
        draw.into(out[first - low : last - low], first - layout.offset)


def _apply(apply: Apply, layout: Layout, out: Tensor, inputs: Sequence[Tensor], low: int, high: int) -> None:
    """Compute the elements of a view that lie in the block."""
    if layout.is_run:
        first, last = max(low, layout.offset), min(high, layout.end)
        for start in range(first, last, _HALF):
            stop = min(start + _HALF, last)
            apply(out[start - low : stop - low], *(each[start - low : stop - low] for each in inputs))
        return
    for piece in pieces(layout, low, high):
        place = piece.size, layout.stride, piece.offset - low
        apply(torch.as_strided(out, *place), *(torch.as_strided(each, *place) for each in inputs))


def chain_of(
    operations: Sequence[tuple[int, Operation]], target: Tensor, fakes: Sequence[Tensor], keys: Mapping[int, Key]
) -> Chain | None:
    """The operations as a chain; None if one of them does not make each element for itself.

    Args:
        operations: The operations that the target depends on, in the order in which they ran, each with its position in the record.
        target: The fake of the tensor that is wanted.
        fakes: The fakes of the slots.
        keys: For each operation that draws the key of its numbers, by position.
    """
    numel = target.untyped_storage().nbytes() // target.element_size()
    if not layout_of(target).is_run or target.numel() != numel:
        return None
    views = _Views(fakes, numel)
    steps: list[Step] = []
    for position, operation in operations:
        step = _step(operation, views, keys.get(position))
        if step is None:
            return None
        steps.extend(step)
    found = views.of_tensor(target)
    return None if found is None else Chain(tuple(_live(steps, found)), found, numel)


@dataclass(frozen=True, slots=True)
class _Views:
    """The slots of a record as views."""

    fakes: Sequence[Tensor]
    numel: int

    def __call__(self, slot: Slot) -> View | None:
        return self.of_tensor(self.fakes[slot.id])

    def of_tensor(self, tensor: Tensor) -> View | None:
        """None for a tensor that is not laid out as the target."""
        if tensor.layout is not torch.strided or tensor.is_conj() or tensor.is_neg():
            return None
        storage = tensor.untyped_storage()
        if storage.nbytes() != self.numel * tensor.element_size():
            return None
        layout = layout_of(tensor)
        return View(storage._cdata, layout, tensor.dtype) if nests(layout) else None


def _step(operation: Operation, views: _Views, key: Key | None) -> list[Step] | None:
    """What an operation does to each element; an empty list for views; None if it is not of this kind."""
    overload, args = operation.overload, operation.args
    name = overload._schema.name
    slots = [slot for slot in tree_iter((args, operation.kwargs)) if isinstance(slot, Slot)]
    written = [a.alias_info is not None and a.alias_info.is_write for a in overload._schema.arguments]
    if len(operation.results) != 1 or torch.Tag.inplace_view in overload.tags:
        return None
    if any(isinstance(value, Tensor) for value in tree_iter((args, operation.kwargs))):
        return None
    out = views(operation.results[0])
    if out is None:
        return None
    if torch.Tag.nondeterministic_seeded in overload.tags:
        return _drawing(operation, out, key)
    if name in _MAKES_EMPTY:
        return []
    if name in _MAKES_FILLED:
        value = _MAKES_FILLED[name]
        if isinstance(value, str):
            schema = [argument.name for argument in overload._schema.arguments]
            value = {**dict(zip(schema, args, strict=False)), **operation.kwargs}[value]  # type: ignore[assignment]
        return [Step(out, (), lambda tensor: tensor.fill_(value))]
    inputs = [views(slot) for slot in slots]
    if any(view is None or view.layout != out.layout for view in inputs):
        return [] if _is_view(overload) and all(view is not None for view in inputs) else None
    given = tuple(view for view in inputs if view is not None)
    if name in _COPIES:
        return [Step(out, given[-1:], lambda tensor, source: tensor.copy_(source))]
    if name == "aten::zero_" or overload is _aten.fill_.Scalar:
        value = args[1] if len(args) > 1 else 0
        return [Step(out, (), lambda tensor: tensor.fill_(value))]
    if _is_view(overload):
        return []
    if torch.Tag.pointwise not in overload.tags:
        return None
    if out.dtype.is_floating_point and not any(view.dtype.is_floating_point or view.dtype.is_complex for view in given):
        return None  # the default dtype of that time decides
    return [Step(out, given, _pointwise(operation, in_place=any(written)))]


def _is_view(overload: OpOverload) -> bool:
    return any(a.alias_info is not None and not a.alias_info.is_write for a in overload._schema.arguments)


def _drawing(operation: Operation, out: View, key: Key | None) -> list[Step] | None:
    fill = elementwise_fill(operation.overload, operation.args, operation.kwargs)
    if fill is None or key is None or not out.layout.is_run:
        return None
    return [Step(out, (), None, Draw(fill, key, out.layout.numel))]


def _pointwise(operation: Operation, in_place: bool) -> Apply:
    """The operation on a piece: its first argument is what it writes to, its slots are the pieces of the inputs, in their order."""

    def apply(out: Tensor, *inputs: Tensor) -> None:
        given = iter(inputs)
        args, kwargs = tree_map_only(Slot, lambda _: next(given), (operation.args, dict(operation.kwargs)))
        kwargs.pop("memory_format", None)
        result = operation.overload(*args, **kwargs)
        if not in_place:
            out.copy_(result)

    return apply


def _live(steps: Sequence[Step], target: View) -> list[Step]:
    """The steps without those whose results another step overwrites, such as the first of two initialisations."""
    needed = {target.storage}
    kept = []
    for step in reversed(steps):
        if step.out.storage not in needed:
            continue
        kept.append(step)
        whole = step.out.layout.is_run and step.out.layout.numel == target.layout.numel
        if whole and step.out.storage not in {view.storage for view in step.inputs}:
            needed.discard(step.out.storage)
        needed.update(view.storage for view in step.inputs)
    return kept[::-1]
