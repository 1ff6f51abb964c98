"""The checks of shapes and dtypes in a generated constructor, from jaxtyping annotations.

The common case is one comparison for each field, with the sizes that other fields have. What is wrong then, the runtime says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..model import FieldDecl, FieldKind, TensorClassDecl
from ..model.array_shapes import DTYPES, FAMILIES, Axis, AxisKind, UnreadableShape, read_axes
from . import layout

_WORD = re.compile(r"\w+")


class ShapeChecks(NamedTuple):
    """The checks in the constructor of a class beyond its batch size."""

    guards: dict[str, str]
    """For each checked field the condition under which the sizes of its shape cannot be read as expected; empty for none."""
    lines: tuple[str, ...]
    """The statements that compare shapes and dtypes."""


def shape_checks(declaration: TensorClassDecl, n: str, taken: frozenset[str]) -> ShapeChecks:
    """The checks of a class; `n` is its constructor's number of batch dimensions, `taken` are names that are in use there."""
    shaped = [_Shaped(field, axes, n) for field, axes in checked_fields(declaration)]
    sizes = _Sizes(taken)
    required = [shape for shape in shaped if not shape.field.optional]
    for shape in required:
        sizes.bind(shape)
    conditions = [condition for shape in required for condition in _conditions(shape, sizes)]
    optional = [shape for shape in shaped if shape.field.optional]
    # They come last: what a name means is best said by a field that is never None.
    for position, shape in enumerate(optional):
        found = list(_conditions(shape, sizes, optional[:position]))
        if found:
            either = " or ".join(found)
            both = f"({either})" if len(found) > 1 else either
            conditions.append(f"{shape.field.name} is not None and {both}")
    return ShapeChecks({shape.field.name: shape.guard(sizes) for shape in shaped}, _lines(sizes, conditions, shaped))


def checked_fields(declaration: TensorClassDecl) -> Iterator[tuple[FieldDecl, tuple[Axis, ...]]]:
    """The fields whose annotations say something that is checked, and their axes."""
    for field in declaration.fields if declaration.checks == "on" else ():
        if field.kind is FieldKind.TENSOR and field.dims is not None:
            try:
                yield field, read_axes(field.dims)
            except UnreadableShape:  # inherited from a class without checks
                continue


class _Shaped:
    """A checked field, and how its constructor reads its sizes."""

    def __init__(self, field: FieldDecl, axes: tuple[Axis, ...], n: str) -> None:
        self.field = field
        self.axes = axes
        self._n = n
        self._several = next((i for i, axis in enumerate(axes) if axis.is_several), len(axes))

    @property
    def carries_batch(self) -> bool:
        return bool(self.axes) and self.axes[0].kind is AxisKind.BATCH

    def guard(self, sizes: _Sizes) -> str:
        """The number of dimensions, where sizes are read one by one, and the batch size, where the shape does not say it."""
        name, count = self.field.name, len(self.axes)
        found = []
        if any(self._is_read(position, sizes) for position in range(count)):
            if self.carries_batch:
                found.append(f"{name}.dim() != {self._n} + {count - 1}")
            else:
                several = self._several < count
                # The axis for several may be none.
                found.append(f"{name}.dim() {'<' if several else '!='} {count - several}")
        if not self.carries_batch and not self.field.unbatched:
            found.append(f"{name}.shape[:{self._n}] != batch_size")
        return " or ".join(found)

    def _is_read(self, position: int, sizes: _Sizes) -> bool:
        """True if the constructor reads the size of an axis."""
        axis = self.axes[position]
        if axis.kind in (AxisKind.NAME, AxisKind.SEVERAL):
            return sizes.known(axis.value) is None or sizes.is_read(axis.value, self.read(position))
        return axis.kind not in (AxisKind.BATCH, AxisKind.SIZE)

    def read(self, position: int) -> str:
        """The size of an axis, or the sizes of one that stands for several: `tokens.shape[-1]`."""
        behind = position - len(self.axes)
        if position < self._several:
            return f"{self.field.name}.shape[{position}]"
        if position > self._several:
            return f"{self.field.name}.shape[{behind}]"
        return f"{self.field.name}.shape[{position or ''}:{behind + 1 or ''}]"


class _Sizes:
    """The variables that hold the sizes of names."""

    def __init__(self, taken: frozenset[str]) -> None:
        self._taken = taken
        self._reads: dict[str, str] = {}
        self._variables: dict[str, str] = {}

    def statements(self, conditions: Sequence[str]) -> list[str]:
        """The assignments of the variables that the conditions read."""
        used = {word for condition in conditions for word in _WORD.findall(condition)}
        return [
            f"{self._variables[name]} = {read}" for name, read in self._reads.items() if self._variables[name] in used
        ]

    def bind(self, shape: _Shaped) -> None:
        """Give every new name of a field that is never None a variable."""
        for position, axis in enumerate(shape.axes):
            if axis.kind in (AxisKind.NAME, AxisKind.SEVERAL) and axis.value not in self._variables:
                variable = axis.value
                while variable in self._taken or variable in self._variables.values():
                    variable = f"{variable}_"
                self._variables[axis.value] = variable
                self._reads[axis.value] = shape.read(position)

    def known(self, name: str) -> str | None:
        """The variable of a name; None where no field that is never None says its size."""
        return self._variables.get(name)

    def is_read(self, name: str, read: str) -> bool:
        """True if the variable of a name is set from `read`."""
        return self._reads.get(name) == read


def _conditions(shape: _Shaped, sizes: _Sizes, before: Sequence[_Shaped] = ()) -> Iterator[str]:
    """The conditions under which a field is wrong; `before` are optional fields from which a name may have its size."""
    name, own = shape.field.name, dict[str, str]()
    expected, others = list[str](), list[str]()
    can_differ = not shape.axes
    for position, axis in enumerate(shape.axes):
        read = shape.read(position)
        match axis.kind:
            case AxisKind.BATCH:
                item = "*batch_size"
                can_differ = True
            case AxisKind.SIZE:
                item = axis.value
                can_differ = True
            case AxisKind.NAME | AxisKind.SEVERAL:
                known = sizes.known(axis.value) or own.setdefault(axis.value, read)
                item = known if axis.kind is AxisKind.NAME else f"*{known}"
                # A size that is compared with itself cannot differ.
                can_differ = can_differ or not (known == read or sizes.is_read(axis.value, read))
                if known == read:
                    others += [f"({one} is not None and {read} != {other})" for one, other in _elsewhere(axis, before)]
            case AxisKind.BROADCAST:
                item = read
                others.append(f"{read} not in (1, {sizes.known(axis.value) or read})")
            case AxisKind.ANY:
                item = read
            case AxisKind.REST:
                item = f"*{read}"
        expected.append(item)
    if can_differ:
        yield f"{name}.shape != {_shape(expected)}"
    yield from others
    yield from _dtype_condition(shape.field)


def _elsewhere(axis: Axis, before: Sequence[_Shaped]) -> Iterator[tuple[str, str]]:
    """Fields that may be None and have the same name, each with the size that it has there."""
    for shape in before:
        for position, other in enumerate(shape.axes):
            if other == axis:
                yield shape.field.name, shape.read(position)
                break


def _shape(items: list[str]) -> str:
    return "batch_size" if items == ["*batch_size"] else layout.in_parentheses(items) if items else "()"


def _dtype_condition(field: FieldDecl) -> Iterator[str]:
    if field.dtype in FAMILIES:
        yield f"{field.name}.dtype not in _features.{field.dtype.upper()}"
    elif field.dtype in DTYPES:
        yield f"{field.name}.dtype is not _torch.{DTYPES[field.dtype]}"


def _lines(sizes: _Sizes, conditions: list[str], shaped: list[_Shaped]) -> tuple[str, ...]:
    """One `if` over all conditions, which calls the function that finds out which of them failed; nothing without conditions."""
    if not conditions:
        return ()
    if len(conditions) > 1:
        conditions = [f"({one})" if " and " in one else one for one in conditions]
    given = [f"{shape.field.name}={shape.field.name}" for shape in shaped]
    refuse = layout.bracketed("_features.refuse_shapes(", ["self", "batch_size", *given], ")", 12)
    joined = f"if {' or '.join(conditions)}:"
    if len(joined) + 8 > layout.WIDTH:
        rest = "".join(f"\n            or {condition}" for condition in conditions[1:])
        joined = f"if (\n            {conditions[0]}{rest}\n        ):"
    return (*sizes.statements(conditions), joined, f"    {refuse}")
