"""How error messages name classes, fields and values.

A message names the class and the field (`Batch.tokens`), what was expected, and what was given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from reprlib import Repr
from typing import Any

from torch import Tensor

from ....common.suggestions import nearest
from .contents import contents
from .stored import Stored

NO_BATCH_SIZE = "give the constructor a batch_size=[...], or call .auto_batch_size_()"
"""Advice about an object without batch dimensions, for which the constructor may have been given no batch size."""

_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 80


def label(self: Stored, name: str) -> str:
    """The name of a field in a message: `Batch.tokens`."""
    return f"{type(self).__name__}.{name}"


def describe(value: object) -> str:
    """The description of a value in a message: its type, with the value itself where that is short.

    >>> describe("train"), describe([1, 2])
    ("str 'train'", 'a list')
    """
    kind = type(value).__name__
    if value is None:
        return "None"
    if isinstance(value, Tensor):
        return f"a Tensor of dtype {value.dtype} and shape {list(value.shape)}"
    # Python refuses to write integers of many digits.
    is_plain = isinstance(value, (float, complex, str)) or (isinstance(value, int) and value.bit_length() < 96)
    if is_plain and len(repr(value)) < 30:
        return f"{kind} {value!r}"
    return f"a {kind}"


def abridged(value: object) -> str:
    """A list of sizes, or another value, as a message shows it: no more than its first items.

    >>> abridged([*range(1000)])
    '[0, 1, 2, 3, 4, 5, ...]'
    """
    return _SHORT.repr(value)


def difference(first: object, other: object) -> str:
    """The differing part of two values in a message, however long they are.

    >>> difference("train", "test")
    "'train' and 'test'"
    """
    one, two = _SHORT.repr(first), _SHORT.repr(other)
    return f"{one} and {two}" if one != two else f"two values that both begin like {one}"


def of_another_class(cls: type, value: object) -> TypeError:
    """The error about an object that was passed to a method of another class, to be raised."""
    return TypeError(f"expected {cls.__name__}, got {type(value).__name__}{disambiguation(cls, value)}")


def disambiguation(cls: type, value: object) -> str:
    """The addition to a message about a value of another class, where both classes have the same name."""
    other = type(value)
    if other.__name__ != cls.__name__:
        return ""
    if other.__module__ != cls.__module__:
        return f" of {other.__module__}, which is not the one of {cls.__module__}"
    return " of another class of that name; one of them was declared again: run again what uses the old one"


def class_names(first: object, other: object) -> str:
    """The classes of two objects that should be of one class, for a message: `Batch and Point`."""
    return f"{type(first).__name__} and {type(other).__name__}{disambiguation(type(first), other)}"


def suggestion(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: the closest known name, or all of them.

    >>> suggestion("tokns", ["tokens", "mask"])
    "; did you mean 'tokens'?"
    """
    names = list(known)
    close = nearest(name, names)
    return f"; did you mean {close!r}?" if close else f"; the fields are: {', '.join(names) or 'none'}"


def blame(action: str, objects: Sequence[Stored], function: Callable[..., object], error: RuntimeError) -> None:
    """Raise an error that names the field, from torch's; return where the tensors of every field can be worked on.

    Args:
        function: What was done to the tensors of a field, one of each object. It is called once more, with copies, as it may
            change what it is given.

    Raises:
        RuntimeError: torch refuses this field.
    """
    if type(error) not in (RuntimeError, NotImplementedError):
        return  # callers catch other classes by themselves, such as that of running out of memory
    first = objects[0]
    for name, value in contents(first).items():
        values: list[Any] = [value, *[contents(other)[name] for other in objects[1:]]]
        if name in first.__structure__:
            continue
        if isinstance(value, Stored) and name in first._nested:
            blame(f"{action}: {label(first, name)}" if name in first.__ragged__ else action, values, function, error)
        elif isinstance(value, Tensor):
            _try(f"{action}: {label(first, name)}", values, function, error)
        elif isinstance(value, (dict, list)) and name in first._containers:
            for key in value if isinstance(value, dict) else range(len(value)):
                _try(f"{action}: {label(first, name)}[{key!r}]", [each[key] for each in values], function, error)


_NOT_OF_COPIES = ("a single memory location", "a leaf Variable that requires grad")
"""Errors of torch about how tensors were made: copies do not show them, and may show another, of a field that was not reached."""


def _try(where: str, tensors: Sequence[Tensor], function: Callable[..., object], error: RuntimeError) -> None:
    if any(words in str(error) for words in _NOT_OF_COPIES):
        if _is_one_memory(tensors) if _NOT_OF_COPIES[0] in str(error) else tensors[0].requires_grad:
            raise RuntimeError(f"{where}: {error}") from error
        return
    try:
        function(*[tensor.detach().clone() for tensor in tensors])  # a copy, because the function may write into it
    except RuntimeError as found:
        advice = "; a field of items of different lengths is Ragged[Tensor]" if "equal size" in str(found) else ""
        raise RuntimeError(f"{where}: {found}{advice}") from error


def _is_one_memory(tensors: Sequence[Tensor]) -> bool:
    """Return whether a write into the first tensor may meet an element twice, or one of the others."""
    target = tensors[0]
    repeats = any(step == 0 and size > 1 for size, step in zip(target.shape, target.stride(), strict=True))
    storage = target.untyped_storage().data_ptr()
    return repeats or any(other.untyped_storage().data_ptr() == storage for other in tensors[1:])
