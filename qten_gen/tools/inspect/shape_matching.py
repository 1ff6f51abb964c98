"""Compares the tensors of one call with their annotated shapes, and keeps the size of each name and its source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from torch import Tensor, nn

from ...model.array_shapes import Axis, AxisKind, UnreadableShape, read_axes
from ...runtime.tensorclass.fields.annotated_shapes import has_dtype
from .named_sizes import Binding, Sizes, UnknownSize, evaluate, names_in
from .shapes_of_values import shapes


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A value that is not what its annotation says."""

    name: str
    """The argument, `result`, or a part of one: `batch.mask`, `result[0]`."""
    expected: str
    """The annotation: `Float[Tensor, "b t width"]`."""
    got: str
    """The dtype and shape: `float32 [4, 7, 128]`."""
    reasons: tuple[str, ...]
    """The differences, and the sources of the expected sizes."""
    is_unreadable: bool = False
    """Whether the annotation cannot be checked."""
    tensor_id: int = field(default=0, compare=False, repr=False)
    """The `id` of the tensor."""


@dataclass
class Tally:
    """How many tensors were compared."""

    compared: int = 0


class Matcher:
    """The names of one call. Expressions are compared last, when all names are known."""

    def __init__(self, names: dict[str, Binding], module: nn.Module | None, tally: Tally) -> None:
        self._names = names
        self._module = module
        self.tally = tally
        self._later: list[_Later] = []

    def tensor(self, name: str, value: Tensor, dtype: str, dims: str) -> Iterator[Mismatch]:
        """Compare a tensor with an annotation such as `Float[Tensor, "b t width"]`."""
        self.tally.compared += 1
        expected, got = f'{dtype}[Tensor, "{dims}"]', described(value)
        try:
            axes = read_axes(dims, expressions=True)
        except UnreadableShape as error:
            yield Mismatch(name, expected, got, (f"it cannot be checked: {error}",), True, id(value))
            return
        reasons = []
        if not has_dtype(value, dtype):
            reasons.append(f"the dtype is {str(value.dtype).removeprefix('torch.')}, not one of {dtype}")
        later = _Later(name, expected, got, id(value))
        reasons += self._shape(later, axes, tuple(value.shape))
        if reasons:
            yield Mismatch(name, expected, got, tuple(reasons), tensor_id=id(value))

    def attempt(self) -> Matcher:
        """A matcher with the same names so far, to try one member of a union with."""
        return Matcher(dict(self._names), self._module, Tally())

    def take(self, attempt: Matcher) -> None:
        """Know what an attempt that succeeded found out."""
        self._names.update(attempt._names)
        self._later += attempt._later
        self.tally.compared += attempt.tally.compared

    def wrong_expressions(self, *, forget: bool = False) -> list[Mismatch]:
        """The problem with the expressions whose names are known already; the others wait. With `forget`, those are done."""
        known = [later for later in self._later if names_in(later.text) <= self._names.keys()]
        if forget:
            self._later = [later for later in self._later if later not in known]
        return list(self._compared(known))

    def expressions(self) -> Iterator[Mismatch]:
        """Compare the dimensions whose sizes are computed from those of others."""
        waiting, self._later = self._later, []
        yield from self._compared(waiting)

    def _compared(self, expressions: list[_Later]) -> Iterator[Mismatch]:
        """The sizes that are expressions and differ from what the annotation says, or cannot be checked."""
        for later in expressions:
            try:
                size = evaluate(later.text, self._names, self._module)
            except UnknownSize as error:
                reason = f"it cannot be checked: {error}"
                yield Mismatch(later.name, later.expected, later.got, (reason,), True, later.tensor_id)
                continue
            if size != later.size:
                reason = f"{later.where} is {later.size}, but {later.text} = {size}{self._sources(later.text)}"
                yield Mismatch(later.name, later.expected, later.got, (reason,), tensor_id=later.tensor_id)

    def _shape(self, tensor: _Later, axes: tuple[Axis, ...], shape: Sizes) -> Iterator[str]:
        """The problem with a shape; names that are new get its sizes."""
        name = tensor.name
        at = next((i for i, axis in enumerate(axes) if axis.is_several), None)
        fixed = len(axes) - (at is not None)
        if len(shape) < fixed or (at is None and len(shape) > fixed):
            least = "at least " if at is not None else ""
            yield f"it has {_count(len(shape), 'dimension')}, expected {least}{fixed}"
            return
        several = len(shape) - fixed
        position = 0
        for axis in axes:
            where = f"dimension {position} of {name}"
            if axis.is_several:
                yield from self._several(axis, shape[position : position + several], name)
                position += several
                continue
            size = shape[position]
            if axis.kind is AxisKind.EXPRESSION:
                self._later.append(replace(tensor, text=axis.value, size=size, where=where))
            else:
                yield from self._one(axis, size, where)
            position += 1

    def _one(self, axis: Axis, size: int, where: str) -> Iterator[str]:
        if axis.kind is AxisKind.SIZE and size != int(axis.value):
            yield f"{where} is {size}, expected {axis.value}"
        elif axis.kind is AxisKind.NAME or (axis.kind is AxisKind.BROADCAST and size != 1):
            bound = self._names.setdefault(axis.value, Binding(size, where))
            if bound.value != size:
                or_one = " or 1" if axis.kind is AxisKind.BROADCAST else ""
                yield f"{where} is {size}, but {axis.value} = {_shown(bound.value)}{or_one} (from {bound.source})"

    def _several(self, axis: Axis, sizes: Sizes, name: str) -> Iterator[str]:
        if axis.kind is AxisKind.REST:
            return
        word = axis.value or "batch"
        bound = self._names.setdefault(f"*{word}", Binding(sizes, name))
        if bound.value != sizes:
            yield f"{list(sizes)} of {name} is not *{word} = {_shown(bound.value)} (from {bound.source})"

    def _sources(self, expression: str) -> str:
        """Where the sizes in an expression are from: `, where width = 96 (from the config of blocks.0)`."""
        found = [(name, self._names[name]) for name in sorted(names_in(expression)) if name in self._names]
        parts = [f"{name} = {_shown(binding.value)} (from {binding.source})" for name, binding in found]
        return f", where {' and '.join(parts)}" if parts else ""


@dataclass(frozen=True, slots=True)
class _Later:
    """A dimension that is compared when all names are known."""

    name: str
    expected: str
    got: str
    tensor_id: int
    text: str = ""
    """The expression."""
    size: int = 0
    where: str = ""


def merged(found: Iterable[Mismatch]) -> list[Mismatch]:
    """The mismatches, one for each value: its expressions are compared after the rest of it."""
    by_value: dict[tuple[str, str], Mismatch] = {}
    for mismatch in found:
        key = mismatch.name, mismatch.expected
        before = by_value.get(key)
        reasons = mismatch.reasons if before is None else (*before.reasons, *mismatch.reasons)
        by_value[key] = replace(before or mismatch, reasons=reasons)
    return [*by_value.values()]


def described(value: object) -> str:
    """A value in a message: `float32 [4, 7]`, `None`, `a list`."""
    if isinstance(value, Tensor):
        return shapes(value)
    return "None" if value is None else f"a {type(value).__name__}"


def _shown(value: int | Sizes) -> str:
    return str(value) if isinstance(value, int) else str(list(value))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
