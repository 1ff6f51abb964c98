"""TensorClasses whose names, texts or types are hard to write out again."""

import typing
from collections.abc import Callable as Function
from typing import Generic, Literal, TypeVar, final

import numpy
import torch as t
from torch import Tensor as Array

import qten_gen as q

Size = TypeVar("Size", bound=Array)


class _Base(q.TensorClass):
    """Private beside a public class of the same name."""

    x: Array


class Base(_Base):
    """Derives from the private one."""

    y: Array


class Sequence(q.TensorClass):
    """Ends in a "quote\""""

    items_: set[str] = q.field(default_factory=set)
    """Ends in a quote too: \""""
    array: numpy.ndarray | None = None
    """A module that is called like a method."""


class Callable(q.TensorClass):
    '''Ends in three """'''

    held: Sequence
    run: Function[[int], str] = str


class Tensor(q.TensorClass):
    """A null \0 byte, a backslash \\ and a form feed \f."""

    data: Array
    kind: Literal["Base", "it's"] = "Base"
    """A string that is the name of a class."""


class Any(q.TensorClass):
    """Nested classes called like variables of generated code."""

    many: "n"
    call: "fn"
    rest: "Tensor | None" = None


class n(q.TensorClass):
    """Called like the number of batch dimensions."""

    x: Array


class fn(q.TensorClass):
    """Called like an argument of the primitives."""

    x: Array


class Builtins(q.TensorClass):
    """Fields called like what annotations mention."""

    tuple: Array
    object: float = 1e-3
    """Anything that is a number."""
    list: dict[str, Array] = q.field(default_factory=dict)
    str: q.PerItem[int] = q.field(kw_only=True)


@final
class Last(q.TensorClass):
    """No class derives from it but the generated one."""

    x: Array
    dtype_: t.dtype = t.float32


class Self(q.TensorClass, Generic[Size]):
    """Generic, under names of typing."""

    x: Size
    given: typing.Any = None


class Frame:
    """Has a class for its parts."""

    class Part(q.TensorClass):
        """Declared inside a class, where no import finds it."""

        x: Array


class Video(q.TensorClass):
    """Holds what is declared inside a class."""

    part: Frame.Part
