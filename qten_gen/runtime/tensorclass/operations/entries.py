"""The entries of the table of operations."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

import torch

from ..methods.operands import Function


class Effect(Enum):
    """The effect of an operation on the batch dimensions, or on the dimensions that a field has beyond them."""

    KEEPS = "kept"
    DROPS = "reduced"
    REARRANGES = "rearranged"
    REPLACES = "made anew"


class Operation(NamedTuple):
    """One operation: a method of TensorClass, the torch functions that mean it, or both.

    Static fields are those of the first object, whatever the operation.
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
    """The twin that changes the object: `name_`, or `__iadd__` for `__add__`."""

    batch: Effect = Effect.KEEPS
    """The effect on the batch dimensions."""

    beyond: Effect = Effect.KEEPS
    """The effect on the dimensions that a field has beyond the batch dimensions."""

    form: str = ""
    """What the methods have in common that a maker makes: `unary`. Types that depend on an argument, and tests, go by it."""

    is_method: bool = True
    """Whether it is a method of TensorClass, and not only a torch function."""

    on_class: bool = False
    """Whether it is called on the class: `Batch.stack`."""

    @property
    def in_place_name(self) -> str:
        """The name of the twin."""
        return f"__i{self.name[2:]}" if self.name.startswith("__") else f"{self.name}_"

    @property
    def in_place_torch_functions(self) -> tuple[Function, ...]:
        """Functions of torch that mean the twin."""
        found: Function | None = getattr(torch, self.in_place_name, None)
        return (found,) if self.in_place is not None and found is not None else ()


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
    name: str = "",
    handler: Function | None = None,
    in_place: Function | None = None,
    batch: Effect = Effect.KEEPS,
    beyond: Effect = Effect.KEEPS,
    form: str = "",
) -> Operation:
    """An entry for a method that is no result of a maker: its documentation begins with what it does."""
    doc = (method.__doc__ or "").partition("\n")[0]
    return Operation(name or method.__name__, doc, method, torch_functions, handler, in_place, batch, beyond, form)
