"""The classes that an expert writes by hand, one for each layout. They are the measure for the generated classes.

They check what generated classes check: the type and the leading shape of each field where one is stored, and equal batch sizes
where two objects meet. The text is that of `handwritten.py.j2`, set out for the fields of each layout, so that ten fields are as
straight as three; `python -m benchmarks.tensorclass.handwritten` prints it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import torch
from jinja2 import Environment, StrictUndefined
from torch import Size, Tensor
from torch.utils._pytree import register_pytree_node

from .layouts import LAYOUTS, Layout

__all__ = ["Any", "Callable", "Iterable", "Iterator", "Mapping", "Size", "register_pytree_node"]

T = TypeVar("T")

Index = int | slice | Tensor | tuple[int | slice, ...]


def text(layout: Layout) -> str:
    """The class of a layout, written out."""
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(Path(__file__).with_suffix(".py.j2").read_text(encoding="utf-8"))
    nested = {name: child.name for name, child in layout.nested.items()}
    return template.render(name=layout.name, tensors=layout.tensors, nested=nested, all=layout.fields)


def _wrong(name: str, value: object, batch_size: Size) -> TypeError | ValueError:
    """The error about a value that does not go into a field."""
    if isinstance(value, Tensor):
        return ValueError(f"{name} of shape {tuple(value.shape)} does not start with {tuple(batch_size)}")
    return TypeError(f"{name}: expected a Tensor or an object that fits, got {type(value).__name__}")


def _unlike(first: object, other: object) -> TypeError | ValueError:
    """The error about two objects that cannot be combined."""
    if type(first) is not type(other):
        return TypeError(f"expected {type(first).__name__}, got {type(other).__name__}")
    sizes: Sequence[object] = [getattr(item, "batch_size", None) for item in (first, other)]
    return ValueError(f"batch sizes differ: {sizes[0]} and {sizes[1]}")


def _shown(tensor: Tensor) -> str:
    """Dtype and shape of a tensor, and its device where that is not the usual one."""
    dtype = str(tensor.dtype).removeprefix("torch.")
    return f"{dtype}{[*tensor.shape]}{'' if tensor.is_cpu else f' {tensor.device}'}"


def _indented(value: object) -> str:
    """The text of a nested object, further in."""
    return repr(value).replace("\n", "\n    ")


def _new(cls: type[T]) -> T:
    return object.__new__(cls)


def _restored(cls: type, values: Sequence[object], batch_size: Size, device: torch.device | None) -> object:
    """The object of a pickle."""
    return cls(*values, batch_size=batch_size, device=device)


CLASSES: dict[str, type] = {}
"""The class of each layout, by its name."""

for _layout in LAYOUTS:
    exec(compile(text(_layout), f"<{_layout.name}, written by hand>", "exec"), globals())
    CLASSES[_layout.name] = globals()[_layout.name]

if __name__ == "__main__":
    print("\n\n".join(text(layout) for layout in LAYOUTS))
