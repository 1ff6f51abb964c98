"""Inputs for `forward` from its annotations, as a user would write them: `tokens: Int[Tensor, "b t"]` gives `tokens: Int[7, 11]`.

Each name gets a size of its own, so that swapped dimensions do not fit. The sizes are primes: none is the product of others. A
model that needs even sizes, or multiples of a patch, gets multiples of primes in another attempt.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from itertools import count

from torch import nn

from ...model import TypeExpr
from ...model.array_shapes import AxisKind, UnreadableShape, read_axes
from ...model.field_kinds import members_of
from ...runtime.tensorclass.core.stored import Stored
from .named_sizes import Binding, UnknownSize, config_sizes, evaluate, names_in
from .recorded_calls import callee
from .request import InspectionError
from .signatures import annotations_of

FACTORS = (1, 4, 32, 224)
"""The factors of the primes, one attempt after the other."""


class UnknownInputs(InspectionError):
    """No annotation says what `forward` takes."""


class _Unknown(Exception):
    """An annotation that says no shape."""


def written_inputs(model: nn.Module, class_of: Callable[[str], type | None], factor: int) -> tuple[str, ...]:
    """Inputs for all arguments of `forward` without a default.

    Raises:
        UnknownInputs: the annotation of an argument says no shape.
    """
    function = callee(model, ())
    said = annotations_of(function)
    shapes = _Shapes(model, class_of, factor)
    found: list[str] = []
    problems: list[str] = []
    parameters = list(inspect.signature(function).parameters.values())[1:]
    for each in parameters:
        if each.default is not each.empty or each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            continue
        try:
            found.append(f"{each.name}: {shapes.of(said.parameters.get(each.name, TypeExpr('')))}")
        except _Unknown:
            problems.append(f"--run: no annotation of {said.function} says the shape of {each.name}; write it: ")
            problems[-1] += f'--run "{each.name}: Float[2, 3]"'
    if problems:
        raise UnknownInputs(problems)
    return tuple(found)


class _Shapes:
    """Shapes in which each name has one size."""

    def __init__(self, model: nn.Module, class_of: Callable[[str], type | None], factor: int) -> None:
        self._model = model
        self._class_of = class_of
        self._sizes = config_sizes(model, "")
        known = {each.value for each in self._sizes.values()}
        self._fresh = (prime * factor for prime in _primes() if prime * factor not in known)

    def of(self, expr: TypeExpr) -> str:
        """The text to write for an annotation."""
        if expr.name.startswith("jaxtyping."):
            dims = str(expr.args[1]) if len(expr.args) > 1 else ""
            return f"{expr.name.removeprefix('jaxtyping.')}[{', '.join(self._dimensions(dims)) or '()'}]"
        if expr.name == "|":
            return self.of(next((part for part in members_of(expr) if part.mentioned), TypeExpr("")))
        parts = [part for part in expr.args if isinstance(part, TypeExpr)]
        if expr.name in ("builtins.tuple", "builtins.list") and parts:
            texts = [self.of(part) for part in parts if part.name != "..."]
            return f"[{', '.join(texts)}]" if expr.name == "builtins.list" else f"({', '.join(texts)},)"
        cls = self._class_of(expr.name) if expr.name else None
        if cls is None or not issubclass(cls, Stored):
            raise _Unknown
        return self._object(cls.__name__ if self._class_of(cls.__name__) is cls else expr.name, cls)

    def _object(self, name: str, cls: type[Stored]) -> str:
        """A TensorClass, from the shapes of the fields without a default."""
        shaped = {field.name: field for field in cls._declared_as.fields if field.dims is not None}
        required = [each.name for each in inspect.signature(cls).parameters.values() if each.default is each.empty]
        if not shaped.keys() >= {*required}:
            raise _Unknown
        fields = [shaped[each] for each in required]
        texts = [
            f"{field.name}={field.dtype or 'Shaped'}[{', '.join(self._dimensions(field.dims or '')) or '()'}]"
            for field in fields
        ]
        batch = f"batch_size=[{self._size('*batch')}]"
        return f"{name}({', '.join([*texts, batch])})"

    def _dimensions(self, dims: str) -> Iterator[str]:
        """The sizes of the words of a shape."""
        try:
            axes = read_axes(dims, expressions=True)
        except UnreadableShape:
            raise _Unknown from None
        for axis in axes:
            match axis.kind:
                case AxisKind.SIZE:
                    yield axis.value
                case AxisKind.NAME | AxisKind.BROADCAST:
                    yield str(self._size(axis.value))
                case AxisKind.BATCH | AxisKind.SEVERAL:
                    yield str(self._size(f"*{axis.value or 'batch'}"))
                case AxisKind.ANY:
                    yield str(next(self._fresh))
                case AxisKind.EXPRESSION:
                    for name in names_in(axis.value):
                        self._size(name)
                    yield str(self._value(axis.value))

    def _value(self, expression: str) -> int:
        try:
            return evaluate(expression, self._sizes, self._model)
        except UnknownSize:
            raise _Unknown from None

    def _size(self, name: str) -> int:
        if name not in self._sizes:
            self._sizes[name] = Binding(next(self._fresh), name)
        found = self._sizes[name].value
        return found if isinstance(found, int) else found[0]


def _primes() -> Iterator[int]:
    return (number for number in count(7, 2) if all(number % other for other in range(3, int(number**0.5) + 1, 2)))
