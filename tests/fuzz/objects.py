"""Objects of random classes, made from what their declarations say, and whether two are alike."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import torch
from torch import Size, Tensor, nn

from qten_gen import Ragged
from qten_gen.model import ConfigDecl, FieldDecl, FieldKind, ModuleDecl, TensorClassDecl
from qten_gen.model.array_shapes import DTYPES, AxisKind, UnreadableShape, read_axes
from qten_gen.runtime.declaring.declared_class import DeclaredClass

_FAMILIES = {"Int": torch.int64, "Bool": torch.bool, "Complex": torch.complex64}
_SIZE = 4
"""The size of each dimension that has a name."""


def tensorclass_object(cls: type, batch_size: tuple[int, ...]) -> Any:
    """An object of a TensorClass with a value for each field that has no default."""
    given = {f.name: _value(f, batch_size) for f in _declaration(cls).fields if f.default is None}
    return cls(**given, batch_size=batch_size)


def module_object(cls: type) -> nn.Module:
    """A Module whose sizes are small."""
    declaration = cast("DeclaredClass", cls)._declaration
    assert isinstance(declaration, ModuleDecl)
    needed = [f for f in declaration.fields if isinstance(f, ConfigDecl) and f.default is None]
    made = cls(**{f.name: 2 if f.type.name == "builtins.int" else None for f in needed})
    assert isinstance(made, nn.Module)
    return made


def _declaration(cls: type) -> TensorClassDecl:
    declaration = cast("DeclaredClass", cls)._declaration
    assert isinstance(declaration, TensorClassDecl)
    return declaration


def _value(field: FieldDecl, batch_size: tuple[int, ...]) -> object:
    match field.kind:
        case FieldKind.TENSOR if field.container == "dict":
            return {"a": _tensor(field, batch_size), "größe": _tensor(field, batch_size)}
        case FieldKind.TENSOR if field.container == "list":
            return [_tensor(field, batch_size), _tensor(field, batch_size)]
        case FieldKind.TENSOR:
            return _tensor(field, batch_size)
        case FieldKind.NUMBER:
            return 1
        case FieldKind.PER_ITEM:
            return _per_item(batch_size)
        case FieldKind.NESTED | FieldKind.RAGGED if field.optional:
            return None
        case FieldKind.NESTED:
            return tensorclass_object(_class_of(field), batch_size)
        case FieldKind.RAGGED:
            lengths = torch.arange(Size(batch_size).numel()).view(batch_size)
            total = int(lengths.sum())
            return Ragged(
                _tensor(field, (total,)) if field.nested is None else tensorclass_object(_class_of(field), (total,)),
                lengths,
            )
        case FieldKind.STATIC:
            return "3" if field.cast in ("str", None) else b"3" if field.cast == "bytes" else 3


def _class_of(field: FieldDecl) -> type:
    """The class of the objects that a field holds."""
    home, _, name = next(n for n in field.type.mentioned if n.rpartition(".")[2] == field.nested).rpartition(".")
    found: type = vars(sys.modules[home])[name]
    return found


def _per_item(batch_size: tuple[int, ...]) -> object:
    if not batch_size:
        return "item"
    return [_per_item(batch_size[1:]) for _ in range(batch_size[0])]


def _tensor(field: FieldDecl, batch_size: tuple[int, ...]) -> Tensor:
    shape = (3,) if field.unbatched else (*batch_size, 2)
    try:
        axes = None if field.dims is None else read_axes(field.dims)
    except UnreadableShape:
        axes = None
    if axes is not None:
        shape = tuple(size for axis in axes for size in _sizes(axis.kind, axis.value, batch_size))
        if axes[0].kind is not AxisKind.BATCH if axes else True:
            shape = (*batch_size, *shape[len(batch_size) :])
    dtype = _FAMILIES.get(field.dtype or "") or getattr(torch, DTYPES.get(field.dtype or "", "float32"))
    return torch.ones(shape, dtype=dtype)


def _sizes(kind: AxisKind, value: str, batch_size: tuple[int, ...]) -> Iterator[int]:
    match kind:
        case AxisKind.BATCH | AxisKind.REST:
            yield from batch_size
        case AxisKind.SEVERAL:
            pass
        case AxisKind.SIZE:
            yield int(value)
        case _:
            yield _SIZE


def alike(one: object, other: object) -> bool:
    """Whether two values are equal, tensors by type, dtype, shape and elements."""
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return one.dtype == other.dtype and one.shape == other.shape and bool((one == other).all())
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, Sequence) and isinstance(other, Sequence) and not isinstance(one, str | bytes):
        return len(one) == len(other) and all(alike(*pair) for pair in zip(one, other, strict=True))
    return one == other
