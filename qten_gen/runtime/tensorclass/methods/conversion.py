"""Dicts, text and copies of TensorClasses."""

from __future__ import annotations

from copy import deepcopy
from typing import TypeVar

from torch import Size, Tensor

from ..core.contents import allocate_like, contents, shallow_copy
from ..core.stored import Stored

T = TypeVar("T", bound=Stored)


def to_dict(self: Stored) -> dict[str, object]:
    """The fields as a dict, nested objects as dicts. Tensors are not copied."""
    return self._to_dict()


def show(self: Stored) -> str:
    """A line for each field, nested objects indented; of a tensor its dtype and shape, and its device where it is not `cpu`."""
    values, static = self._field_values()
    fields = "".join(map(_line, self._fields, contents(self).values() if static else values))
    names = "" if self._names is None else f"    names={[*self._names]},\n"
    device = "" if self._device is None else f"    device={self._device},\n"
    return f"{type(self).__name__}(\n{fields}    batch_size={_sizes(self._batch_size)},\n{names}{device})"


def _line(name: str, value: object) -> str:
    return f"    {name}={_shown(value)},\n"


def _shown(value: object) -> str:
    if isinstance(value, Tensor):
        text = str(value.dtype).removeprefix("torch.") + _sizes(value.shape)
        return text if value.is_cpu else f"{text} {value.device}"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {_shown(item)}' for key, item in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    return repr(value).replace("\n", "\n    ")


def _sizes(size: Size) -> str:
    """The sizes of dimensions, `[4, 3]`: out of the text of torch in half the time that a list of the numbers takes."""
    return str(size).removeprefix("torch.Size(").removesuffix(")")


def copy(self: T) -> T:
    """The same tensors in a new object, for `copy.copy`; nested objects, dicts and lists of tensors are new ones too.

    So a field of the copy can be set, at any depth, and the original stays as it is.
    """
    return shallow_copy(self)


def deep_copy(self: T, memo: dict[int, object]) -> T:
    """A copy of every tensor and static value, for `copy.deepcopy`."""
    out = allocate_like(self)
    memo[id(self)] = out
    values, static = deepcopy(self._field_values(), memo)
    out._assign(values, static, self._batch_size, self._device)
    out._names = self._names
    return out
