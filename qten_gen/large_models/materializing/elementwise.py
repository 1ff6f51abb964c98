"""Recorded operations that make each element of a tensor for itself, so that a block can be made without the rest.

`chain_of` looks whether the operations that reach a tensor are of this kind, and `Chain.block` carries them out in
buffers of a block's size.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch.utils._pytree import tree_map_only

from ..deferred.tape import Operation, OutsideRef, SlotRef, Tape, references
from ..sharding.regions import Layout
from .keyed_draws import BLOCK, Draw, Key, elementwise_fill

_HALF = BLOCK // 2
"""Elements that torch computes in one thread, so that results do not depend on the number of threads, down to the last bit."""

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
Scalar = bool | int | float | complex


@dataclass(frozen=True, slots=True)
class Step:
    """One operation on elements that lie at the same place of their storages."""

    out: View
    inputs: tuple[View, ...]
    apply: Apply | None
    """Takes the tensor to write to and the inputs. None for a draw."""
    draw: Draw | None = None
    value: Scalar | None = None
    """The number that the step writes everywhere, None if it does otherwise."""


@dataclass(frozen=True, slots=True)
class Chain:
    """The steps that make a tensor, each element for itself."""

    steps: tuple[Step, ...]
    target: View
    numel: int
    """Elements of each of the storages."""

    @property
    def constant(self) -> Scalar | None:
        """The number that every element is, None if they differ."""
        only = self.steps[0] if len(self.steps) == 1 else None
        return only.value if only is not None and only.out == self.target else None

    def block(self, low: int, high: int, into: Tensor | None = None) -> Tensor:
        """The elements `low` to `high` of the target's storage, where `low` is the start of a block; in `into` if given."""
        buffers = {} if into is None else {self.target.storage: into}

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
    """Compute the elements of a run of memory that lie in the block."""
    first, last = max(low, layout.offset), min(high, layout.end)
    for start in range(first, last, _HALF):
        stop = min(start + _HALF, last)
        apply(out[start - low : stop - low], *(each[start - low : stop - low] for each in inputs))


def chain_of(tape: Tape, operations: Sequence[Operation], target: int, keys: Mapping[int, Key]) -> Chain | None:
    """The operations as a chain; None if one of them does not make each element for itself.

    Args:
        tape: What was recorded.
        operations: The operations that the target depends on, in the order in which they ran.
        target: The slot of the tensor that is wanted.
        keys: The key of each operation that draws, by its index.
    """
    wanted = tape.slots[target]
    layout = Layout(wanted.size, wanted.stride, wanted.offset)
    used = {target, *(slot for operation in operations for slot in (*operation.reads, *operation.results))}
    views = _views(tape, used, layout.numel)
    if views is None:
        return None
    steps: list[Step] = []
    for operation in operations:
        step = _step(operation, views, keys.get(operation.index))
        if step is None:
            return None
        steps.extend(step)
    return Chain(tuple(_live(steps, views[target])), views[target], layout.numel)


def _views(tape: Tape, slots: Collection[int], numel: int) -> dict[int, View] | None:
    """Slots as runs of storages that all have `numel` elements of one dtype; None if one is something else."""
    found: dict[int, View] = {}
    ends: dict[int, int] = {}
    dtypes: dict[int, torch.dtype] = {}
    for index in slots:
        slot = tape.slots[index]
        layout = Layout(slot.size, slot.stride, slot.offset)
        if not layout.is_run or dtypes.setdefault(slot.storage, slot.dtype) != slot.dtype:
            return None
        ends[slot.storage] = max(layout.end, ends.get(slot.storage, 0))
        found[index] = View(slot.storage, layout, slot.dtype)
    return found if all(end == numel for end in ends.values()) else None


def _step(operation: Operation, views: Mapping[int, View], key: Key | None) -> list[Step] | None:
    """What an operation does to each element; an empty list for views; None if it is not of this kind."""
    overload, args = operation.overload, operation.args
    name = overload._schema.name
    found = list(references((*args, *operation.kwargs.values())))
    if len(operation.results) != 1 or torch.Tag.inplace_view in overload.tags:
        return None
    if any(isinstance(reference, OutsideRef) for reference in found):
        return None
    out = views[operation.results[0]]
    if operation.draw is not None:
        return _drawing(operation, out, key)
    if name in _MAKES_EMPTY:
        return []
    if name in _MAKES_FILLED:
        value: object = _MAKES_FILLED[name]
        if isinstance(value, str):
            schema = [argument.name for argument in overload._schema.arguments]
            value = {**dict(zip(schema, args, strict=False)), **operation.kwargs}[value]
        return [_filling(out, cast(Scalar, value))]
    given = tuple(views[reference.slot] for reference in found if isinstance(reference, SlotRef))
    if _is_view(overload):
        return []
    if any(view.layout != out.layout for view in given):
        return None
    if name in _COPIES:
        return [Step(out, given[-1:], lambda tensor, source: tensor.copy_(source))]
    if name == "aten::zero_" or overload is _aten.fill_.Scalar:
        return [_filling(out, cast(Scalar, args[1] if len(args) > 1 else 0))]
    if torch.Tag.pointwise not in overload.tags:
        return None
    if out.dtype.is_floating_point and not any(view.dtype.is_floating_point or view.dtype.is_complex for view in given):
        return None  # the default dtype of that time decides
    return [Step(out, given, _pointwise(operation, in_place=bool(operation.writes)))]


def _filling(out: View, value: Scalar) -> Step:
    return Step(out, (), lambda tensor: tensor.fill_(value), value=value)


def _is_view(overload: OpOverload) -> bool:
    return any(a.alias_info is not None and not a.alias_info.is_write for a in overload._schema.arguments)


def _drawing(operation: Operation, out: View, key: Key | None) -> list[Step] | None:
    fill = elementwise_fill(operation.overload, operation.args, operation.kwargs)
    if fill is None or key is None:
        return None
    return [Step(out, (), None, Draw(fill, key, out.layout.numel))]


def _pointwise(operation: Operation, in_place: bool) -> Apply:
    """The operation on pieces of the tensor that it writes to and of its inputs, in their order."""

    def apply(out: Tensor, *inputs: Tensor) -> None:
        given = iter(inputs)
        args, kwargs = tree_map_only(SlotRef, lambda _: next(given), (operation.args, dict(operation.kwargs)))
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
        whole = step.out.layout.numel == target.layout.numel
        if whole and step.out.storage not in {view.storage for view in step.inputs}:
            needed.discard(step.out.storage)
        needed.update(view.storage for view in step.inputs)
    return kept[::-1]
