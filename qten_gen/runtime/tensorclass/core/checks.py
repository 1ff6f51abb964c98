"""Checks and conversions of what a TensorClass stores. Generated code tests the common case itself and calls these for the rest.

Every error names the class, the field, what was expected and what came.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from enum import Enum
from operator import index
from typing import TYPE_CHECKING, Final, SupportsIndex, TypeVar, cast

import torch
from torch import Size, Tensor

from .contents import allocate_like, contents, shallow_copy, tensor_and_nested, tensors_of
from .locks import locked
from .locks import refuse_if_frozen as refuse_if_frozen
from .locks import refuse_if_locked as refuse_if_locked
from .names import fitted
from .stored import Stored

if TYPE_CHECKING:
    from ...declaring.fields import Default

T = TypeVar("T", bound=Stored)

BatchSize = int | Sequence[int] | None
"""What a constructor takes as `batch_size`; a number is one dimension, None is none."""

_CPU = torch.device("cpu")

DeviceLike = torch.device | str | int | None
"""What a constructor takes as `device`."""


class Missing(Enum):
    """Type of `DEFAULT`; an Enum, because dynamo traces calls whose defaults are members of one."""

    DEFAULT = "default"

    def __repr__(self) -> str:
        return "<default>"


DEFAULT: Final = Missing.DEFAULT
"""Stands in a generated signature for a default that cannot be written there."""


def batch_size(value: BatchSize) -> Size:
    """A batch size from what a user may write for it.

    >>> batch_size(3), batch_size(None)
    (torch.Size([3]), torch.Size([]))
    """
    if value is None:
        return Size()
    if isinstance(value, int):
        return Size((value,))
    if isinstance(value, str):
        raise TypeError(f"batch_size: expected int, a sequence of int or None, got {value!r}")
    try:
        return Size([plain_int(size) for size in value] if isinstance(value, Iterable) else (plain_int(value),))
    except TypeError:
        raise TypeError(f"batch_size: expected int, a sequence of int or None, got {value!r}") from None


def plain_int(value: SupportsIndex) -> int:
    """An integer of Python for one of NumPy, which files and pickles of batch sizes could not hold. A symbol stays one."""
    return cast(int, value) if isinstance(value, (int, torch.SymInt)) else index(value)


def device(value: torch.device | str | int) -> torch.device:
    """A device with its index, so that it equals that of the tensors on it: `cuda` becomes `cuda:0`."""
    if type(value) is str and value == "cpu":
        return _CPU
    found = value if isinstance(value, torch.device) else torch.device(value)
    if found == _CPU or found.index is not None or found.type == "meta":
        return found
    return torch.empty(0, device=found).device


def default(self: Stored, name: str) -> object:
    """The default of a field for one instance: a factory is called; a tensor or an object with tensors is cloned."""
    found: Default = type(self)._defaults[name]
    if found.is_factory:
        return cast("object", found.value())  # type: ignore[operator] # a factory is callable
    if isinstance(found.value, Tensor):
        return found.value.clone()
    return found.value._map(Tensor.clone) if isinstance(found.value, Stored) else found.value


def label(self: Stored, name: str) -> str:
    """How a field is called in a message: `Batch.tokens`."""
    return f"{type(self).__name__}.{name}"


def of_another_class(cls: type, value: object) -> TypeError:
    """The error about an object that was given to a method of another class, to be raised."""
    return TypeError(f"expected {cls.__name__}, got {type(value).__name__}{disambiguation(cls, value)}")


def disambiguation(cls: type, value: object) -> str:
    """What a message about a value of another class adds where both classes are called alike."""
    other = type(value)
    if other.__name__ != cls.__name__:
        return ""
    if other.__module__ != cls.__module__:
        return f" of {other.__module__}, which is not the one of {cls.__module__}"
    return " of another class of that name; one of them was declared again"


def named(value: object) -> str:
    """How a value is called in a message: its type, and itself where that is short."""
    kind = type(value).__name__
    if value is None:
        return "None"
    if isinstance(value, Tensor):
        return f"a Tensor of dtype {value.dtype} and shape {list(value.shape)}"
    if isinstance(value, (int, float, complex, str)) and len(repr(value)) < 30:
        return f"{kind} {value!r}"
    return f"a {kind}"


def tensor(self: Stored, name: str, value: object, batch_size: Size, device: torch.device | None) -> Tensor:
    """The tensor to store in a field, moved to the object's device.

    Raises:
        TypeError: `value` is no tensor (and the class does not cast).
        ValueError: its shape does not start with the batch size.
    """
    if not isinstance(value, Tensor):
        value = _as_tensor(self, name, value, device)
    shape = value.shape
    if shape[: len(batch_size)] != batch_size:
        raise ValueError(
            f"{type(self).__name__}.{name}: expected a shape that starts with {[*batch_size]}, got {[*shape]}"
        )
    return _on(value, device)


def checked_tensor(self: Stored, name: str, value: Tensor) -> Tensor:
    """The tensor to store where a field is set, moved to the object's device.

    Raises:
        TypeError: `value` is no tensor (and the class does not cast).
        ValueError: its shape does not start with the batch size.
        RuntimeError: the object is locked.
    """
    if self._lock is not None:
        raise locked(self, name)
    size = self._batch_size
    if not isinstance(value, Tensor) or value.shape[: len(size)] != size or self._device is not None:
        return tensor(self, name, value, size, self._device)
    return value


def unbatched(self: Stored, name: str, value: object, device: torch.device | None) -> Tensor:
    """The tensor to store in an Unbatched field, of any shape, moved to the object's device.

    Raises:
        TypeError: `value` is no tensor (and the class does not cast).
    """
    return _on(_as_tensor(self, name, value, device), device)


def number(self: Stored, name: str, value: object, batch_size: Size, device: torch.device | None) -> Tensor:
    """The tensor to store in a field annotated with a number: a number is repeated over the batch."""
    if isinstance(value, (int, float, complex)):
        return torch.full(batch_size, value, device=device)
    return tensor(self, name, value, batch_size, device)


def _on(value: Tensor, device: torch.device | None) -> Tensor:
    return value if device is None or value.device == device else value.to(device)


_CONVERTING: Final = ("autocast", "tensor_only")
"""The flags with which numbers, arrays and lists are made tensors."""


def _as_tensor(self: Stored, name: str, value: object, device: torch.device | None) -> Tensor:
    """A tensor as it is; of another value the tensor that a class with a flag of `_CONVERTING` makes of it."""
    if isinstance(value, Tensor):
        return value
    if value is None or self._flags.isdisjoint(_CONVERTING):
        raise TypeError(f"{label(self, name)}: expected a Tensor, got {named(value)}")
    try:
        return torch.as_tensor(value, device=device)
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(f"{label(self, name)}: cannot make a Tensor of {named(value)}: {error}") from error


def nested(self: Stored, name: str, cls: type[T], value: object, batch_size: Size, device: torch.device | None) -> T:
    """The object to store in a nested field, moved to the owner's device.

    Its batch size has to start with the owner's. A shorter one is raised to it in a shallow copy. A TensorDict with fitting keys
    is converted.

    Raises:
        TypeError: `value` is of another class, or a TensorDict whose keys do not fit.
        ValueError: the batch sizes do not fit.
    """
    if not isinstance(value, cls):
        value = _as_nested(self, name, cls, value, batch_size, device)
    if value._batch_size[: len(batch_size)] != batch_size:
        if batch_size[: len(value._batch_size)] != value._batch_size:
            raise ValueError(
                f"{label(self, name)}: expected a batch size that starts with {list(batch_size)}, "
                f"got {list(value._batch_size)}"
            )
        value = with_batch_size(shallow_copy(value), batch_size, f"{label(self, name)}: ")
    if device is not None and value._device != device:
        from ..methods.moving import to

        return to(value, device)
    return value


def _as_nested(
    self: Stored, name: str, cls: type[T], value: object, batch_size: Size, device: torch.device | None
) -> T:
    """The object that a TensorDict, or in an `autocast` class a mapping, stands for."""
    from ..interop.tensordicts import from_tensordict, is_tensordict

    if is_tensordict(value):
        try:
            return from_tensordict(cls, value)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{label(self, name)}: {error}") from error
    if not isinstance(value, Mapping) or "autocast" not in self._flags:
        raise TypeError(f"{label(self, name)}: expected {cls.__name__}, got {named(value)}{disambiguation(cls, value)}")
    from ..methods.conversion import from_dict

    return from_dict(cls, value, batch_size=batch_size, device=device)


_CASTS: dict[str, type] = {"int": int, "float": float, "bool": bool, "complex": complex, "str": str}


def cast_static(self: Stored, name: str, to: str, value: object) -> object:
    """Convert the value of a static field of an `autocast` class to `int`, `float`, `bool`, `complex` or `str`."""
    kind = _CASTS[to]
    if type(value) is kind:
        return value
    try:
        return cast("object", kind(value))
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(f"{label(self, name)}: cannot convert {named(value)} to {to}: {error}") from error


def with_batch_size(self: T, batch_size: Size, where: str = "") -> T:
    """A shallow copy with another batch size, which all tensors have to start with; nested objects are raised to it.

    Raises:
        ValueError: a tensor or a nested batch size does not fit.
    """
    n = len(batch_size)
    values, static = self._field_values()
    values_that_fit: list[object] = []
    for name, value in zip(tensor_and_nested(self), values, strict=True):
        if name in self._unbatched:
            pass
        elif isinstance(value, (Tensor, dict, list)):
            for one in tensors_of(value):
                if one.shape[:n] != batch_size:
                    raise ValueError(
                        f"{where}{label(self, name)}: expected a shape that starts with {list(batch_size)}, "
                        f"got {list(one.shape)}"
                    )
        elif value is not None:
            inner = cast("Stored", value)
            value = nested(self, name, type(inner), inner, batch_size, None)
        values_that_fit.append(value)
    if self._per_item:
        from ..fields.per_item import refuse_unfit

        refuse_unfit(self, batch_size, static)
    if self._shapes:
        from ..fields.annotated_shapes import refuse_contents

        refuse_contents(self, batch_size, contents(self))
    out = allocate_like(self)._assign(values_that_fit, static, batch_size, self._device)
    out._names = fitted(self._names, n)
    return out


def suggestion(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: the name that was probably meant, or all of them.

    >>> suggestion("tokns", ["tokens", "mask"])
    "; did you mean 'tokens'?"
    """
    names = list(known)
    close = get_close_matches(name, names, n=1)
    return f"; did you mean {close[0]!r}?" if close else f"; the fields are: {', '.join(names) or 'none'}"


def get_batch_size(self: Stored) -> Size:
    """The property `batch_size`."""
    return self._batch_size


def set_batch_size(self: Stored, value: BatchSize) -> None:
    """Set the property `batch_size`: all tensors have to start with it. Nested objects are raised to it in shallow copies.

    Raises:
        ValueError: a tensor or a nested batch size does not fit; nothing is changed then.
        RuntimeError: the object is locked.
        FrozenInstanceError: it is frozen.
    """
    refuse_if_locked(self, "change the batch size of")
    changed = with_batch_size(self, batch_size(value))
    self._assign(*changed._field_values(), changed._batch_size, self._device)
    self._names = changed._names


def get_device(self: Stored) -> torch.device | None:
    """The property `device`."""
    return self._device


def set_device(self: Stored, value: object) -> None:
    """Refuse to set the property `device`."""
    raise AttributeError(f"the device of a {type(self).__name__} cannot be set; use .to({str(value)!r})")
