"""Shapes and dtypes that jaxtyping annotations say, checked for the error message and when a field is set.

Constructors test the common case themselves, in one comparison a field, and come here when it fails.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import torch
from torch import Size, Tensor

from ..core.contents import contents, tensor_and_nested
from ..core.error_text import describe, label
from ..core.stored import Stored
from .dicts_and_lists import unbatched


def _named_dtypes(*names: str) -> frozenset[torch.dtype]:
    """The dtypes of these names that this release of torch has."""
    return frozenset(dtype for name in names if (dtype := getattr(torch, name, None)) is not None)


INT: Final = _named_dtypes("int8", "int16", "int32", "int64")
UINT: Final = _named_dtypes("uint8", "uint16", "uint32", "uint64")
INTEGER: Final = INT | UINT
FLOAT: Final = _named_dtypes(
    *("bfloat16", "float16", "float32", "float64"),
    *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"),
)
COMPLEX: Final = _named_dtypes("complex64", "complex128")
INEXACT: Final = FLOAT | COMPLEX
REAL: Final = INTEGER | FLOAT
NUM: Final = REAL | COMPLEX

_FAMILIES = {
    "Int": INT,
    "UInt": UINT,
    "Integer": INTEGER,
    "Float": FLOAT,
    "Complex": COMPLEX,
    "Inexact": INEXACT,
    "Real": REAL,
    "Num": NUM,
}

Sizes = dict[str, tuple[int | Size, str]]
"""The sizes of named dimensions, and the field that each is from: `{"seq": (7, "tokens")}`."""


def refuse_shapes(self: Stored, batch_size: Size, /, **values: object) -> None:
    """Raise the error of the first tensor that is not what its annotation says; a name has one size in all fields.

    Raises:
        TypeError: a dtype is another.
        ValueError: a shape is another.
    """
    sizes: Sizes = {}
    # Fields with `#name` last: what the name stands for is known then.
    for name, value in sorted(values.items(), key=lambda item: "#" in self._shapes[item[0]][1]):
        if isinstance(value, Tensor):
            _refuse(self, name, value, batch_size, sizes)


def shaped(self: Stored, name: str, value: object, batch_size: Size, device: torch.device | None) -> Tensor:
    """The tensor to store in a field whose annotation says a shape; the sizes of other fields are not compared.

    Raises:
        TypeError: `value` is not a tensor (and the class does not cast), or of another dtype.
        ValueError: its shape is another.
    """
    found = unbatched(self, name, value, device)
    _refuse(self, name, found, batch_size, {})
    return found


def fitting(self: Stored, name: str, value: object, old: Tensor | None) -> Tensor:
    """The tensor to store in a field of an object that has the other fields already, in place of `old`.

    Raises:
        TypeError: `value` is not a tensor (and the class does not cast), or of another dtype.
        ValueError: its shape is another, or a size differs from another field.
    """
    found = unbatched(self, name, value, self._device)
    if old is not None and found.dtype is old.dtype and found.shape == old.shape:
        return found
    fields = contents(self)
    others = {other: fields[other] for other in self._shapes if other != name}
    refuse_shapes(self, self._batch_size, **others, **{name: found})
    return found


def refuse_contents(self: Stored, batch_size: Size, values: Mapping[str, object]) -> None:
    """Raise the error of fields that do not fit together for this batch size; `values` has all fields."""
    refuse_shapes(self, batch_size, **{name: values[name] for name in self._shapes})


def set_together(self: Stored, values: Mapping[str, object]) -> None:
    """Set several fields whose annotations say shapes: they have to fit together afterwards, not one by one.

    Raises:
        TypeError: a value is not a tensor (and the class does not cast), or of another dtype.
        ValueError: a shape is another; nothing is written then.
    """
    optional = {f.name for f in type(self)._declared_as.fields if f.optional}
    fields = contents(self)
    for name, value in values.items():
        is_none = value is None and name in optional
        fields[name] = None if is_none else unbatched(self, name, value, self._device)
    refuse_contents(self, self._batch_size, fields)
    dimension_names = self._names
    static = self._field_values()[1]
    self._assign([fields[name] for name in tensor_and_nested(self)], static, self._batch_size, self._device)
    self._names = dimension_names


def _refuse(self: Stored, name: str, value: Tensor, batch_size: Size, sizes: Sizes) -> None:
    """Raise the error of one tensor; note in `sizes` what its dimensions say."""
    dtype, dims = self._shapes[name]
    found = None if name in self._unbatched else batch_size
    if not has_dtype(value, dtype):
        raise TypeError(f"{_expected(self, name, found, sizes)}, got {describe(value)}")
    words = dims.split()
    if found is not None and value.shape[: len(found)] != found:
        raise ValueError(f"{_expected(self, name, found, sizes)}, got {describe(value)}")
    new = _match(words, value.shape, batch_size, {word: size for word, (size, _) in sizes.items()})
    if new is None:
        raise ValueError(f"{_expected(self, name, found, sizes)}, got {describe(value)}")
    for word, size in new.items():
        sizes.setdefault(word, (size, name))


def fits_alone(value: Tensor, dtype: str, dims: str) -> bool:
    """True if a tensor has the dtype and the shape of an annotation, whatever other fields have."""
    return has_dtype(value, dtype) and _match(dims.split(), value.shape, Size(), {}) is not None


def has_dtype(value: Tensor, dtype: str) -> bool:
    """True if a tensor has a dtype that a name of jaxtyping stands for: `"Float"`, `"Int64"`, `"Shaped"`."""
    if dtype == "Shaped":
        return True
    if dtype in _FAMILIES:
        return value.dtype in _FAMILIES[dtype]
    # Float8e4m3fn is torch.float8_e4m3fn; all others are torch's names in lower case.
    return value.dtype is getattr(torch, dtype.lower().replace("float8e", "float8_e"), None)


def _match(
    words: list[str], shape: Size, batch_size: Size, known: Mapping[str, int | Size]
) -> dict[str, int | Size] | None:
    """The sizes in `shape` of the names among `words`; None where they do not fit, or differ from those in `known`."""
    at = next((i for i, word in enumerate(words) if word[0] == "*" or word == "..."), None)
    before, behind = (words, []) if at is None else (words[:at], words[at + 1 :])
    rest = len(shape) - len(before) - len(behind)
    if rest < 0 or (at is None and rest > 0):
        return None
    found: dict[str, int | Size] = {}
    pairs: list[tuple[str, int | Size]] = list(zip(before, shape, strict=False))
    pairs += zip(behind, shape[len(shape) - len(behind) :], strict=True)
    if at is not None:
        pairs.append((words[at], shape[len(before) : len(before) + rest]))
    for word, size in pairs:
        # `width=4` is a size with a name.
        name = word.rpartition("=")[2].lstrip("*#")
        if word == "*batch":
            if size != batch_size:
                return None
        elif name.isdecimal():
            if size != int(name):
                return None
        # A name that begins with an underscore is any size, and `#` allows 1.
        elif word != "..." and not name.startswith("_") and not (word[0] == "#" and size == 1):
            expected = known.get(name, found.setdefault(name, size))
            if size != expected or found[name] != size:
                return None
    return found


def _expected(self: Stored, name: str, batch_size: Size | None, sizes: Sizes) -> str:
    """The start of a message: the annotation, and what its names stand for.

    `Batch.mask: expected Bool[Tensor, "*batch seq"] with batch size [4] and seq = 7 (from tokens)`
    """
    dtype, dims = self._shapes[name]
    default = "" if batch_size else " (the default of batch_size)"
    said = [] if batch_size is None else [f"batch size {list(batch_size)}{default}"]
    for word in dims.split():
        if word.lstrip("*#") in sizes:
            size, source = sizes[word.lstrip("*#")]
            shown = size if isinstance(size, int) else list(size)
            said.append(f"{word.lstrip('*#')} = {shown} (from {source})")
    with_ = f" with {' and '.join(said)}" if said else ""
    return f'{label(self, name)}: expected {dtype}[Tensor, "{dims}"]{with_}'
