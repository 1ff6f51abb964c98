"""The batch size that values by name have in common, before there is an object of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from torch import Size, Tensor

from ...declaring import loading
from .contents import tensors_of
from .stored import Stored
from .tensordict_library import is_tensordict


def nested_class(cls: type[Stored], name: str) -> type[Stored]:
    """The class of a nested field, as the generated code of the owner knows it."""
    found: type[Stored] = cls._map.__globals__[loading.bound_name(cls._nested[name])]
    return found


def shared_dimensions(cls: type[Stored], values: Mapping[str, object]) -> Size:
    """The longest shape that the shapes of all tensors start with that the batch carries; none where there are no tensors."""
    shapes = list(_shapes(cls, values))
    size = shapes[0] if shapes else Size()
    for shape in shapes:
        while shape[: len(size)] != size:
            size = size[:-1]
    return size


def _shapes(cls: type[Stored], values: Mapping[str, object]) -> Iterator[Size]:
    """The shapes of all tensors that the batch is to carry, those of nested mappings included."""
    for name, value in values.items():
        if name in cls._static or name in cls._unbatched:
            continue
        if isinstance(value, Tensor):
            yield value.shape
        elif isinstance(value, Stored):
            yield value._batch_size
        elif is_tensordict(value):
            yield value.batch_size
        elif name in cls._collections:
            yield from _shapes_in_dict(value)
        elif name in cls._containers:
            yield from (tensor.shape for tensor in tensors_of(value))
        elif isinstance(value, dict) and name in cls._nested:
            yield from _shapes(nested_class(cls, name), cast("dict[str, object]", value))


def _shapes_in_dict(value: object) -> Iterator[Size]:
    """The shapes of what a dict holds that becomes a TensorDict, dicts in it included."""
    for part in cast("dict[str, object]", value).values() if isinstance(value, dict) else ():
        if isinstance(part, Tensor):
            yield part.shape
        elif isinstance(part, Stored):
            yield part._batch_size
        elif is_tensordict(part):
            yield part.batch_size
        else:
            yield from _shapes_in_dict(part)
