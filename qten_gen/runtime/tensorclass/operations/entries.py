"""What is in a row of the table of operations, and the methods and handlers that rows are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import wraps
from typing import Any, NamedTuple, TypeVar

from torch import Tensor

from ..core.blame import blame
from ..core.locks import refuse_if_frozen
from ..core.other_libraries import is_array
from ..core.stored import Stored
from ..methods.operands import Function, Operand, is_plain, no_operand, one, several, two, unequal


class Effect(Enum):
    """The effect of an operation on the batch dimensions, or on the dimensions that a field has beyond them."""

    KEEPS = "kept"
    DROPS = "reduced"
    REARRANGES = "rearranged"
    REPLACES = "made anew"


class Operation(NamedTuple):
    """One operation: a method of TensorClass, the torch functions that mean it, or both.

    The result has the static fields of the first object, whatever the operation.
    """

    name: str
    """Name of the method."""

    doc: str
    """Its effect, in one line."""

    method: Function
    """Called with the object first; bound on the class as `name`."""

    torch_functions: tuple[Function, ...] = ()
    """Functions of torch that do the same when they are given an object."""

    handler: Function | None = None
    """The function that those call, where it is not the method."""

    in_place: Function | None = None
    """The twin of an operator that changes the object: `__iadd__` for `__add__`."""

    batch: Effect = Effect.KEEPS
    """The effect on the batch dimensions."""

    beyond: Effect = Effect.KEEPS
    """The effect on the dimensions that a field has beyond the batch dimensions."""

    form: str = ""
    """What the methods have in common that a maker makes: `unary`. Types that depend on an argument, and tests, go by it."""

    is_method: bool = True
    """True if it is a method of TensorClass, and not only a torch function."""

    on_class: bool = False
    """True if it is called on the class: `Batch.stack`."""

    @property
    def in_place_name(self) -> str:
        """The name of the twin."""
        return f"__i{self.name[2:]}"


class Group(NamedTuple):
    """Operations of one kind, with what holds for all of them."""

    title: str
    text: str
    """The common documentation: which operands there are, and how the operations apply to them."""
    operations: tuple[Operation, ...]
    raises: tuple[str, ...] = ()
    """The errors that they have in common: `IndexError: there is no such batch dimension`."""


OPERAND_ERRORS = (
    "TypeError: an operand is something else, such as an object of another class",
    "ValueError: it has another batch size, or a tensor does not broadcast over the batch size",
    "RuntimeError: torch has no such operation for the dtype of a field, which the error names",
)
"""The errors of methods that take operands."""

DIMENSION_ERRORS = (
    "IndexError: there is no such batch dimension",
    "ValueError: no batch dimension has that name",
    "TypeError: `dim` is neither an integer nor a name",
    "RuntimeError: torch has no such operation for the dtype of a field, which the error names",
)
"""The errors of methods that take a batch dimension."""


def documented(method: Function, name: str, doc: str) -> Function:
    """A method made of an entry, with what `help` and error messages show of it."""
    method.__name__ = name
    method.__qualname__ = f"TensorClass.{name}"
    method.__doc__ = doc
    return method


def written_out(
    method: Function,
    *torch_functions: Function,
    handler: Function | None = None,
    batch: Effect = Effect.KEEPS,
    beyond: Effect = Effect.KEEPS,
    form: str = "",
) -> Operation:
    """An entry for a method that is no result of a maker: its documentation begins with what it does."""
    doc = (method.__doc__ or "").partition("\n")[0]
    return Operation(method.__name__, doc, method, torch_functions, handler, None, batch, beyond, form)


T = TypeVar("T", bound=Stored)


def operator(function: Function) -> Function:
    """A binary special method. Where it is not defined, Python asks the other operand."""
    name = function.__name__

    def method(self: T, other: Operand, /) -> T:
        if type(other) is type(self):
            theirs: Any = other  # of the same class, which pyright does not see
            if theirs._batch_size != self._batch_size:
                raise unequal(self, theirs)
            try:
                return self._zip(function, theirs)
            except RuntimeError as error:
                blame(name, [self, theirs], function, error)
                raise
        if isinstance(other, (int, float, complex)):
            return self._map_with(function, other, self._device)
        if isinstance(other, Tensor) or is_plain(other):
            return two(self, function, other, name)
        if is_array(other):
            no_operand(self, name, other)  # Python would go on to answer `batch == array` with False
        return NotImplemented  # type: ignore[no-any-return] # for Python to try the other operand

    return method


def operator_in_place(function: Function) -> Function:
    """A special method such as `__iadd__`. The other operand is never asked: it would make a new object."""
    name = function.__name__

    def method(self: T, other: Operand, /) -> T:
        refuse_if_frozen(self, f"{name} in place into")
        two(self, function, other, name)
        return self

    return method


def unary(function: Callable[[Tensor], Tensor], name: str) -> Function:
    """A method without other operands."""

    def method(self: T) -> T:
        return one(self, function, name)

    return method


def changing(writing: Function) -> Function:
    """A method that returns its object, of a function that writes into the tensors; a frozen object is refused."""

    @wraps(writing)
    def method(self: T, *args: Any, **options: Any) -> T:
        refuse_if_frozen(self, f"{writing.__name__} in place into")
        writing(self, *args, **options)
        return self

    return method


Keywords = dict[str, Any]

_SPELT = {"axis": "dim", "keepdims": "keepdim", "x": "input", "x2": "other"}
"""Names of NumPy that torch takes for its own, and passes on as they are."""


def under_torch_names(name: str, options: Mapping[str, object]) -> Keywords:
    """Keyword arguments under torch's own names, without `out=None` and `inplace=False`.

    Raises:
        TypeError: the result is to be written into `out`, or into the object.
    """
    found = {_SPELT.get(key, key): value for key, value in options.items()}
    if found.pop("out", None) is not None:
        raise TypeError(f"{name}: out= is not supported, the result is a new object; write it with .copy_(...)")
    if found.get("inplace"):
        raise TypeError(f"{name}: inplace=True is not supported, the result is a new object; assign that")
    found.pop("inplace", None)
    return found


def operands_of(
    name: str, operands: Sequence[str], args: tuple[object, ...], options: Keywords
) -> tuple[list[object], tuple[object, ...], Keywords]:
    """The operands of a call in their order, its other positional arguments, and the keyword arguments that are left.

    Raises:
        TypeError: an operand is missing, or an object stands where none may.
    """
    found = list(args[: len(operands)])
    left = dict(options)
    for parameter in operands[len(found) :]:
        if parameter not in left:
            raise TypeError(f"{name}: expected {parameter!r} too")
        found.append(left.pop(parameter))
    rest = args[len(operands) :]
    if not any(isinstance(operand, Stored) for operand in found) or any(
        isinstance(other, Stored) for other in (*rest, *left.values())
    ):
        raise TypeError(
            f"{name} takes an object for {' and '.join(map(repr, operands))} only; pass the tensors, with .apply or "
            "field by field"
        )
    return found, rest, left


def among(name: str, function: Function, operands: Sequence[object], *settings: object, **options: object) -> Stored:
    """`function` of operands, one of which is an object at least, applied to the tensors of each field.

    Args:
        settings: What the function gets behind the operands, the same for each field.

    Raises:
        TypeError: an operand is of another type.
        ValueError: the batch sizes differ, or a tensor does not broadcast.
        RuntimeError: torch refuses a tensor; the field is named.
    """
    at = [isinstance(operand, Stored) for operand in operands].index(True)
    self, others = operands[at], (*operands[:at], *operands[at + 1 :])
    assert isinstance(self, Stored)

    def placed(tensor: Tensor, *rest: object) -> Tensor:
        result: Tensor = function(*rest[:at], tensor, *rest[at:], *settings, **options)
        return result

    return several(self, placed, others, name) if others else one(self, placed, name)


def pointwise(
    name: str,
    doc: str,
    *torch_functions: Function,
    operands: tuple[str, ...] = ("input",),
    beyond: Effect = Effect.KEEPS,
) -> Operation:
    """An entry for functions of torch that are not methods, applied to every tensor. `operands` may be objects."""
    applied = torch_functions[0]

    def handler(*args: object, **options: object) -> Stored:
        if len(args) == 1 and not options and isinstance(args[0], Stored):
            return one(args[0], applied, name)
        found, settings, left = operands_of(name, operands, args, options)
        return among(name, applied, found, *settings, **left)

    return Operation(
        name,
        doc,
        documented(handler, name, doc),
        torch_functions,
        documented(handler, name, doc),
        beyond=beyond,
        form=f"function of {len(operands)}",
        is_method=False,
    )
