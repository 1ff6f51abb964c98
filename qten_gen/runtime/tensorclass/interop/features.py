"""The features of a data set, held against the fields of a class: by name, number of dimensions, size and dtype."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

from ..core.error_text import suggestion
from ..core.stored import Stored



class _Feature(NamedTuple):
    """The known facts about a feature; None for an unknown one."""

    dtype: str | None
    shape: tuple[int | None, ...] | None

    def __str__(self) -> str:
        shape = (
            "" if self.shape is None else str(["?" if size is None else size for size in self.shape]).replace("'", "")
        )
        return f"{self.dtype or 'a value'}{shape}"


def accepts(cls: type[T], features: Any) -> None:
    """Check that the items of a data set have the fields of this class, without reading one.

    >>> Batch.accepts({"tokens": torch.zeros(7, dtype=torch.int64)})
    >>> Batch.accepts({"tokns": torch.zeros(7)})
    Traceback (most recent call last):
    ValueError: Batch.accepts: it has no field tokns; did you mean 'tokens'?; tokens is missing

    Args:
        features: `dataset.features` of Hugging Face, a schema of Arrow, or the first item as a mapping. The shapes are those of
            one item, without batch dimensions.

    Raises:
        ValueError: a field without default is missing, there is no field of a name, or a shape or dtype does not fit; all that is
            wrong stands in the message.
    """
    given = dict(_features(features))
    problems = [f"it has no field {name}{suggestion(name, cls._fields)}" for name in given if name not in cls._fields]
    for field in cls._declared_as.fields:
        if field.name in given:
            if field.name not in cls._static and field.nested is None:
                problems += _misfits(field.name, field.dtype, field.dims, given[field.name])
        elif field.name not in cls._defaults and not field.optional:
            problems.append(f"{field.name} is missing")
    if problems:
        raise ValueError(f"{cls.__name__}.accepts: {'; '.join(problems)}")


def _misfits(name: str, dtype: str | None, dims: str | None, feature: _Feature) -> Iterator[str]:
    """The differences between a feature and a field of tensors."""
    if feature.dtype in ("string", "large_string", "str", "bytes", "binary"):
        yield f"{name} holds tensors, got {feature.dtype}"
        return
    if dtype is not None and feature.dtype is not None and not _is_of(feature.dtype, dtype):
        yield f"{name}: expected {dtype}, got {feature.dtype}"
    words = [word.rpartition("=")[2].lstrip("#?") for word in (dims or "").split() if word != "*batch"]
    if dims is None or feature.shape is None or any(word.startswith(("*", "...")) for word in words):
        return
    if len(words) != len(feature.shape):
        yield f"{name}: expected {len(words)} dimensions, {' '.join(words) or 'none'}, got {feature}"
    elif any(
        word.isdecimal() and size not in (None, int(word)) for word, size in zip(words, feature.shape, strict=True)
    ):
        yield f"{name}: expected [{', '.join(words)}], got {feature}"


_GROUPS: Mapping[str, tuple[str, ...]] = {
    "Float": ("float", "bfloat", "half", "double"),
    "Int": ("int",),
    "UInt": ("uint",),
    "Integer": ("int", "uint"),
    "Inexact": ("float", "bfloat", "half", "double", "complex"),
    "Complex": ("complex",),
    "Bool": ("bool",),
}
"""The dtypes of each group of jaxtyping, by how their names begin."""


def _is_of(dtype: str, wanted: str) -> bool:
    """Whether a dtype is of a group of jaxtyping such as `Int`, or the one that is named, such as `Float32`."""
    if wanted in _GROUPS:
        return dtype.startswith(_GROUPS[wanted])
    return wanted in ("Shaped", "Num", "Real", "Key") or dtype == wanted.lower()


def _features(features: Any) -> Iterator[tuple[str, _Feature]]:
    """The features by name."""
    if isinstance(features, Mapping):
        for name, value in features.items():
            yield str(name), _feature(value)
    elif hasattr(features, "names") and hasattr(features, "field"):  # a schema of Arrow
        for name in features.names:
            yield str(name), _of_arrow(features.field(name).type)
    else:
        raise TypeError(f"accepts: expected features, a schema or an item, got a {type(features).__name__}")


def _feature(value: Any) -> _Feature:
    """The known facts about a value, a tensor, or a feature of Hugging Face."""
    inner = getattr(value, "feature", None)
    if inner is not None and hasattr(value, "length"):  # Sequence, List
        return _in_list(_feature(inner), None if value.length in (-1, None) else int(value.length))
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is not None:
        return _Feature(None if dtype is None else str(dtype).removeprefix("torch."), tuple(shape))
    if isinstance(dtype, str):
        is_scalar = not dtype.startswith(("list", "dict")) and hasattr(value, "id")
        return _Feature(dtype, () if is_scalar else None)
    if isinstance(value, bool | int | float | str):
        return _Feature({bool: "bool", int: "int64", float: "float32"}.get(type(value), "string"), ())
    if isinstance(value, list) and value:
        return _in_list(_feature(value[0]), len(value))
    return _Feature(None, None)


def _in_list(of: _Feature, length: int | None) -> _Feature:
    return _Feature(of.dtype, None if of.shape is None else (length, *of.shape))


def _of_arrow(kind: Any) -> _Feature:
    inner = getattr(kind, "value_type", None)
    if inner is not None and "list" in str(kind):
        return _in_list(_of_arrow(inner), getattr(kind, "list_size", None))
    names = {"float": "float32", "double": "float64", "halffloat": "float16"}
    return _Feature(names.get(str(kind), str(kind)), ())
