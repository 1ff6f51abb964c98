"""What an object of a declaration holds at first, and what it holds now."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any

import torch
from torch import Tensor

from qten_gen import PerItem, Ragged

from .declarations import (
    FAMILIES,
    Class,
    Declaration,
    Field,
    ItemsField,
    NestedField,
    NumberField,
    RaggedField,
    StaticField,
    TensorField,
    TensorsField,
)
from .plain import Items, Path, Plain, Shape, positions


def contents(declaration: Declaration, seed: int) -> Plain:
    """Numbers for the tensors of a declaration."""
    plain = Plain(declaration.batch_size, locked=declaration.lock or "frozen" in declaration.cls.flags)
    if any(declaration.names):
        plain.names = {(): declaration.names}
    _fill(plain, declaration.cls, (), (), torch.Generator().manual_seed(seed))
    return plain


def _fill(plain: Plain, cls: Class, at: Path, tail: Shape, generator: torch.Generator) -> None:
    size = (*plain.batch_size, *tail)

    def numbers(found: TensorField | TensorsField | RaggedField) -> Tensor:
        shape = found.shape if isinstance(found, RaggedField) or found.unbatched else (*size, *found.shape)
        made = torch.randint(-4, 5, shape, generator=generator)
        return made.to(found.dtype) if found.dtype is not torch.float64 else made.double() / 4

    for name, found in cls.named:
        path = (*at, name)
        match found:
            case Field(given=False):
                pass
            case TensorField():
                (plain.unbatched if found.unbatched else plain.tensors)[path] = numbers(found)
                if found.checked:
                    plain.said[path] = (FAMILIES[found.dtype][1], found.shape)
            case TensorsField():
                keys = _keys(found)
                plain.static[path] = keys
                target = plain.unbatched if found.unbatched else plain.tensors
                target |= {(*path, key): numbers(found) for key in keys}
            case ItemsField():
                plain.items[path] = positions(size)
            case RaggedField():
                lengths = torch.randint(4, (prod(size),), generator=generator).tolist()
                for one, shape in _members(found, path).items():
                    made = [numbers(replace(found, shape=(length, *shape))) for length in lengths]
                    plain.ragged[one] = Items(size, made, numbers(replace(found, shape=(0, *shape))))
            case NumberField() if not cls.keeps_numbers:
                plain.tensors[path] = torch.full(size, found.value)
            case StaticField() | NumberField():
                plain.static[path] = found.value
            case NestedField():
                plain.tails[path] = (*tail, *found.tail)
                if plain.names:
                    plain.names[path] = tuple(f"n{at}" for at in range(plain.n + len(plain.tails[path])))
                _fill(plain, found.cls, path, plain.tails[path], generator)


def _members(found: RaggedField, path: Path) -> dict[Path, Shape]:
    """The tensors of a Ragged field, with the shape of a row."""
    return {(*path, "value"): found.shape, (*path, "weight"): ()} if found.of_objects else {path: found.shape}


def _together(items: Items) -> tuple[Tensor, Tensor]:
    """The rows of all items, and how many each has."""
    lengths = torch.tensor([len(rows) for rows in items.rows], dtype=torch.int64).reshape(items.shape)
    return torch.cat([items.none, *items.rows]), lengths


def _keys(found: TensorsField) -> tuple[str | int, ...]:
    return tuple(range(len(found.keys))) if found.is_list else found.keys


def arguments(plain: Plain, cls: Class, made: dict[str, type], name: str, at: Path = ()) -> dict[str, Any]:
    """What the constructor of a class is given to make an object that holds what the model holds.

    Args:
        made: The classes of the library, by name.
        name: That of this one.
        at: The path of the object.
    """
    size = (*plain.batch_size, *plain.tails.get(at, ()))
    given: dict[str, Any] = {"batch_size": size}
    if plain.names and at in plain.names:
        given["names"] = plain.names[at]
    for field_name, found in cls.named:
        path = (*at, field_name)
        match found:
            case Field(given=False):
                given[field_name] = None
            case TensorField():
                given[field_name] = (plain.unbatched if found.unbatched else plain.tensors)[path].clone()
            case TensorsField():
                tensors = plain.unbatched if found.unbatched else plain.tensors
                held = {key: tensors[(*path, key)].clone() for key in _keys(found)}
                given[field_name] = [*held.values()] if found.is_list else held
            case ItemsField():
                given[field_name] = PerItem([f"v{one}" for one in plain.items[path].reshape(-1).tolist()], size)
            case RaggedField():
                parts = {one: _together(plain.ragged[one]) for one in _members(found, path)}
                rows, lengths = next(iter(parts.values()))
                if found.of_objects:
                    members = [each for each, _ in parts.values()]
                    given[field_name] = Ragged(made[name + field_name](*members, batch_size=len(rows)), lengths)
                else:
                    given[field_name] = Ragged(rows, lengths)
            case StaticField() | NumberField():
                given[field_name] = found.value
            case NestedField():
                inner = name + field_name
                given[field_name] = made[inner](**arguments(plain, found.cls, made, inner, path))
    return given


def read(value: Any, declaration: Declaration) -> Plain:
    """What an object holds now."""
    plain = Plain(tuple(value.batch_size), locked=value.is_locked)
    _read(plain, value, declaration.cls, (), plain.locked)
    return plain


def _read(plain: Plain, value: Any, cls: Class, at: Path, locked: bool) -> None:
    locked = locked or "frozen" in cls.flags
    assert value.is_locked == locked
    if any(value.names) and plain.names is not None:
        plain.names[at] = tuple(value.names)
    for name, found in cls.named:
        path = (*at, name)
        held = getattr(value, name)
        match found:
            case NumberField() if not cls.keeps_numbers:
                plain.tensors[path] = held
            case StaticField() | NumberField():
                plain.static[path] = held
            case _ if held is None:
                pass
            case TensorField():
                (plain.unbatched if found.unbatched else plain.tensors)[path] = held
            case TensorsField():
                pairs = dict(enumerate(held)) if found.is_list else held
                plain.static[path] = tuple(pairs)
                target = plain.unbatched if found.unbatched else plain.tensors
                target |= {(*path, key): tensor for key, tensor in pairs.items()}
            case ItemsField():
                assert held.batch_size == value.batch_size
                numbers = torch.tensor([int(one[1:]) for one in held.values()], dtype=torch.int64)
                plain.items[path] = numbers.reshape(held.batch_size)
            case RaggedField():
                assert held.is_locked == locked
                for one in _members(found, path):
                    whole = getattr(held.rows, str(one[-1])) if found.of_objects else held.rows
                    cut = whole.split(held.lengths.reshape(-1).tolist()) if held.lengths.numel() else ()
                    plain.ragged[one] = Items(tuple(held.batch_size), [*cut], whole[:0])
                    assert held.lengths.shape == held.batch_size
            case NestedField():
                plain.tails[path] = tuple(held.batch_size)[plain.n :]
                assert tuple(held.batch_size)[: plain.n] == plain.batch_size
                _read(plain, held, found.cls, path, locked)
