"""Describes what is passed to modules and returned by them: the shapes in containers and objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

from torch import Tensor

from ...runtime.tensorclass.core.contents import contents
from ...runtime.tensorclass.core.stored import Stored
from .runs import Other, Shape, Structure, TensorShape
from .tensor_memory import dtype_name

_DEEPEST = 6


def shape_of(value: object, depth: int = 0) -> Shape:
    """The shapes in a value."""
    if isinstance(value, Tensor):
        return TensorShape(tuple(value.shape), dtype_name(value), str(value.device))
    if value is None or isinstance(value, (bool, int, float, str)):
        text = repr(value)
        return Other(text if len(text) <= 20 else f"{text[:17]}...")
    parts = parts_of(value) if depth < _DEEPEST else {}
    if not parts or not any(True for _ in tensors_in(value, depth)):
        return Other(f"a {type(value).__name__}")
    shapes = tuple((key, shape_of(part, depth + 1)) for key, part in parts.items())
    return Structure(type(value).__name__, tuple((key, shape) for key, shape in shapes))


def tensors_in(value: object, depth: int = 0) -> Iterator[Tensor]:
    """The tensors in a value, those of containers and objects included."""
    if isinstance(value, Tensor):
        yield value
    elif depth < _DEEPEST:
        for part in parts_of(value).values():
            yield from tensors_in(part, depth + 1)


def parts_of(value: object) -> Mapping[str, object]:
    """The parts of a container, a TensorClass or a dataclass by name; empty for any other value."""
    if isinstance(value, Stored):
        return contents(value)
    if isinstance(value, Mapping):
        return {str(key): part for key, part in value.items()}
    names = getattr(value, "_fields", None)
    if isinstance(value, tuple) and names is not None:
        return dict(zip(names, value, strict=True))
    if isinstance(value, (list, tuple)):
        return {str(index): part for index, part in enumerate(value)}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name, None) for field in fields(value)}
    return {}
