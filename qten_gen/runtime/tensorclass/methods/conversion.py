"""Objects as text, dicts and copies."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from reprlib import recursive_repr
from typing import Any, Literal, TypeAlias, TypeVar, cast

from torch import Size, Tensor

from ..core import late
from ..core.attributes import beside_fields, store_beside
from ..core.contents import allocate_like, contents, shallow_copy
from ..core.error_text import label
from ..core.other_libraries import bare
from ..core.stored import Stored
from ..fields.per_item import PerItem
from .joining import unbind

T = TypeVar("T", bound=Stored)

Rows: TypeAlias = "dict[str, object] | list[Rows]"
"""One dict for an object without batch dimensions; lists of them, as deep as there are batch dimensions."""


@recursive_repr()
def show(self: Stored) -> str:
    """A line for each field, nested objects indented; of a tensor its dtype and shape, and its device where it is not `cpu`.

    An object inside itself, which the list of a static field makes possible, is shown as `...`.
    """
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
    if isinstance(value, (dict, list)):
        return _several(value)
    return repr(value).replace("\n", "\n    ")


@recursive_repr()
def _several(value: dict[object, object] | list[object]) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {_shown(item)}' for key, item in value.items())}}}"
    return f"[{', '.join(map(_shown, value))}]"


def _sizes(size: Size) -> str:
    """The sizes of dimensions, `[4, 3]`: out of the text of torch in half the time that a list of the numbers takes."""
    return str(size).removeprefix("torch.Size(").removesuffix(")")


def to_dict(
    self: Stored,
    *,
    retain_none: bool = True,
    convert_tensors: bool | Literal["numpy"] = False,
    tolist_first: bool = False,
) -> dict[str, Any]:
    """The fields as a dict, nested objects as dicts. Tensors are not copied.

    >>> Batch(torch.arange(2), batch_size=2).to_dict(retain_none=False, convert_tensors=True)
    {'tokens': [0, 1]}

    Args:
        retain_none: Also fields that are None.
        convert_tensors: Lists in place of tensors, as `Tensor.tolist` gives them, or with `"numpy"` arrays.
        tolist_first: A nested object with batch dimensions becomes the dicts of its items, in lists as deep as it has dimensions.

    Raises:
        ValueError: `convert_tensors` is anything else.
        TypeError: with `"numpy"`, a tensor requires a gradient or is on another device, or NumPy does not know its dtype.
    """
    if retain_none and not convert_tensors and not tolist_first:
        return self._to_dict()
    if convert_tensors not in (True, False, "numpy"):
        raise ValueError(f'{type(self).__name__}.to_dict: expected True, False or "numpy", got {convert_tensors!r}')
    convert = Tensor.numpy if convert_tensors == "numpy" else Tensor.tolist if convert_tensors else None
    return converted(self, convert, retain_none, tolist_first)


def converted(
    self: Stored, convert: Callable[[Tensor], object] | None, retain_none: bool = True, as_rows: bool = False
) -> dict[str, object]:
    """`to_dict` with something else in place of each tensor, where `convert` is not None."""
    found: dict[str, object] = {}
    for name, value in contents(self).items():
        if value is None and not retain_none:
            continue
        if isinstance(value, Stored) and name in self._nested:
            found[name] = (rows if as_rows else converted)(value, convert, retain_none)
        elif convert is not None and name not in self._static and value is not None:
            found[name] = _converted_tensors(label(self, name), value, convert)
        else:
            found[name] = value
    return found


def rows(self: Stored, convert: Callable[[Tensor], object] | None, retain_none: bool = True) -> Rows:
    """The dicts of the items, in lists as deep as there are batch dimensions."""
    if self._batch_size:
        return [rows(item, convert, retain_none) for item in unbind(self)]
    found = converted(self, convert, retain_none, as_rows=True)
    return {name: value.tolist() if isinstance(value, PerItem) else value for name, value in found.items()}


def _converted_tensors(where: str, value: object, convert: Callable[[Tensor], object]) -> object:
    if isinstance(value, dict):
        return {key: _converted_tensors(f"{where}[{key!r}]", tensor, convert) for key, tensor in value.items()}
    if isinstance(value, list):
        return [_converted_tensors(f"{where}[{at}]", tensor, convert) for at, tensor in enumerate(value)]
    try:
        return convert(cast(Tensor, value))
    except (RuntimeError, TypeError) as error:
        raise TypeError(f"{where}: {error}") from error


def copy(self: T) -> T:
    """The same tensors in a new object, for `copy.copy`; nested objects, dicts and lists of tensors are new ones too.

    So a field of the copy can be set, at any depth, and the original stays as it is.

    >>> batch = Batch(torch.arange(2), batch_size=2)
    >>> batch.copy().tokens is batch.tokens
    True
    """
    out = shallow_copy(self)
    if self.__attribute_places__ or self._nested:
        _keep_attributes(self, out)
    return out


def deep_copy(self: T, memo: dict[int, object]) -> T:
    """A copy of every tensor and static value, for `copy.deepcopy`."""
    out = allocate_like(self)
    memo[id(self)] = out  # before its contents: a list in a static field may hold the object itself
    for leaf in self._leaves():
        plain = bare(leaf)
        if plain is not leaf and id(leaf) not in memo:
            memo[id(leaf)] = deepcopy(plain, memo)
    values, static = deepcopy(self._field_values(), memo)
    out._assign(values, static, self._batch_size, self._device)
    out._names = self._names
    for leaf, copied in zip(self._leaves(), out._leaves(), strict=True):
        late.packing.mark_copy(leaf, copied)
    if type(self).__attribute_places__:
        store_beside(out, deepcopy(beside_fields(self), memo))
    return out


def _keep_attributes(source: Stored, copied: Stored) -> None:
    """Give a shallow copy, and the objects in it, what the original has beside its fields."""
    if source.__attribute_places__:
        store_beside(copied, beside_fields(source))
    for name in source._nested:
        value = getattr(source, name)
        if isinstance(value, Stored) and (value.__attribute_places__ or value._nested):
            _keep_attributes(value, getattr(copied, name))
