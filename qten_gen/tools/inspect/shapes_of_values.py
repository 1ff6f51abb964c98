"""Describes what is passed to modules and returned by them: the shapes in containers and objects, never values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

import torch
from torch import Tensor

from ...runtime.tensorclass.core.contents import contents
from ...runtime.tensorclass.core.stored import Stored


def dtype_name(tensor: Tensor) -> str:
    """`float32` for a tensor of `torch.float32`."""
    return str(tensor.dtype).removeprefix("torch.")


def storage_of(tensor: Tensor) -> torch.UntypedStorage | None:
    """The storage of a tensor; None for a sparse tensor, or another without one storage.

    That of a fake tensor says what it would be. Fake tensors refuse to give it, because it has no content.
    """
    try:
        with torch._C.DisableTorchFunctionSubclass():
            return tensor.untyped_storage()
    except (RuntimeError, NotImplementedError):
        return None


_DEEPEST = 6


def shapes(value: object, depth: int = 0) -> str:
    """The shapes in a value on one line, `(float32 [4, 128], Cache(keys: float32 [4, 8]))`; empty if it has no tensors."""
    if isinstance(value, Tensor):
        return f"{dtype_name(value)} {list(value.shape)}"
    if depth == _DEEPEST:
        return ""
    found = {key: text for key, part in parts_of(value).items() if (text := shapes(part, depth + 1))}
    if type(value) in (tuple, list) and found:
        return f"({', '.join(found.values())})"
    return f"{type(value).__name__}({', '.join(f'{key}: {text}' for key, text in found.items())})" if found else ""


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
