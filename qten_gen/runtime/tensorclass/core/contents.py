"""The content of an object, by field, and objects made from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, TypeVar, cast

from torch import Tensor

from ...declaring import loading
from . import late
from .stored import Stored

T = TypeVar("T", bound=Stored)


def contents(self: Stored) -> dict[str, object]:
    """Every field and what is stored in it, in constructor order."""
    values, static = self._field_values()
    if not static:
        return dict(zip(self._fields, values, strict=True))
    in_turn, static_in_turn = iter(values), iter(static)
    return {name: next(static_in_turn) if name in self._static else next(in_turn) for name in self._fields}


def nested_class(cls: type[Stored], name: str) -> type[Stored]:
    """The class of a nested field, as the generated code of the owner knows it.

    Where the owner imports it for type checkers only and nothing else has imported it yet, this does.
    """
    if cls.__structure__:
        return cast(Any, cls).rows_class  # type: ignore[no-any-return] # of `Ragged`
    if name in cls.__ragged__ and not cls._nested[name]:
        return late.ragged.class_for(Tensor)  # type: ignore[no-any-return]
    # The generated module, in which the class's own code looks for it.
    names, reference = cls.__generated_init__.__globals__, cls._nested[name]
    if names[loading.bound_name(reference)] is loading.Undeclared:
        qualified = loading.resolve_reference(reference, loading.source_name(names["__name__"]))
        import_module(qualified.rpartition(".")[0])
    found: type[Stored] = names[loading.bound_name(reference)]
    return late.ragged.class_for(found) if name in cls.__ragged__ else found


def tensor_and_nested(self: Stored | type[Stored]) -> tuple[str, ...]:
    """Names of the fields whose values the first part of `_field_values` holds."""
    if not self._static:
        return self._fields
    return tuple(name for name in self._fields if name not in self._static)


def batched_leaves(self: Stored) -> list[Tensor]:
    """The tensors that the batch carries, also of nested objects."""
    if not self._unbatched and not self._nested:
        return self._leaves()
    found: list[Tensor] = []
    for name, value in zip(tensor_and_nested(self), self._field_values()[0], strict=True):
        if name in self.__structure__ or name in self.__ragged__:
            continue
        if name in self._nested and value is not None:
            found += batched_leaves(value)
        elif name not in self._unbatched and value is not None:
            found += tensors_of(value)
    return found


def tensors_of(value: object) -> list[Tensor]:
    """The tensors that a field holds: one, all of a dict or list, or none. Markers of pytrees count as tensors."""
    if isinstance(value, dict):
        return [*value.values()]
    return [] if value is None else value if isinstance(value, list) else [cast(Tensor, value)]


def leaf_pairs(self: Stored, other: Stored) -> list[tuple[Tensor, Tensor]]:
    """The tensors of two objects of a class side by side, in the order of `_leaves`; in a dict by their keys.

    Raises:
        TypeError: a field is None in one of them.
        ValueError: the keys or the number of tensors in a field differ.
    """
    found: list[tuple[Tensor, Tensor]] = []

    def note(left: Tensor, right: Tensor) -> Tensor:
        found.append((left, right))
        return left

    self._zip(note, other)
    return found


def unbatched_leaves(self: Stored) -> list[tuple[str, Tensor]]:
    """The tensors that the batch does not carry, each with its field as `Batch.table`; also of nested objects."""
    found: list[tuple[str, Tensor]] = []
    if not self._unbatched and not self._nested:
        return found
    for name, value in zip(tensor_and_nested(self), self._field_values()[0], strict=True):
        if name in self.__ragged__ or self.__structure__:
            continue
        if name in self._unbatched:
            found += [(f"{type(self).__name__}.{name}", tensor) for tensor in tensors_of(value)]
        elif name in self._nested and value is not None:
            found += unbatched_leaves(value)
    return found


def nested_objects(self: Stored) -> list[Stored]:
    """The objects in the nested fields of an object, None left out."""
    if not self._nested:
        return []
    values = [value for value in self._field_values()[0] if not isinstance(value, Tensor)]
    return [value for value in values if isinstance(value, Stored)]


def ragged_fields(self: Stored) -> Iterator[tuple[str, Any]]:
    """The values of Ragged fields, each with its field as `Batch.boxes`; also of nested objects. A Ragged is its own."""
    if self.__structure__:
        yield type(self).__name__, self
    for name in self._nested if not self.__structure__ else ():
        value = getattr(self, name)
        if name in self.__ragged__ and value is not None:
            yield f"{type(self).__name__}.{name}", value
        elif value is not None:
            yield from ragged_fields(value)


def allocate_like(self: T) -> T:
    """An object of the same class that is still to be filled."""
    return object.__new__(type(self))


def shallow_copy(self: T) -> T:
    """The same tensors in a new object; objects, dicts and lists of tensors in its fields are new too."""
    return self._map(_same)


def _same(tensor: Tensor) -> Tensor:
    return tensor


def copied(value: object) -> object:
    """A copy of every tensor in a value of a field, or in a mapping of such values; any other value as it is."""
    if isinstance(value, Tensor):
        return value.clone()
    if isinstance(value, Stored):
        return value._map(Tensor.clone)
    if isinstance(value, Mapping):
        return {key: copied(part) for key, part in value.items()}
    return [copied(part) for part in value] if isinstance(value, list) else value
