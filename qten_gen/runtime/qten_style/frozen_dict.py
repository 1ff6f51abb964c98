"""A mapping that cannot change."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

import torch
from torch.utils import _pytree

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class FrozenDict(Mapping[K, V]):
    """A mapping that cannot change; hashable where its values are. Equal to any mapping with the same items.

        FrozenDict({"weight": tensor}) | {"bias": other}    # a new one

    A pytree whose leaves are the values.
    """

    __slots__ = ("_items",)
    _items: dict[K, V]

    def __init__(self, items: Mapping[K, V] | Iterable[tuple[K, V]] = ()) -> None:
        object.__setattr__(self, "_items", dict(items))

    def __getitem__(self, key: K) -> V:
        return self._items[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __or__(self, other: Mapping[K, V]) -> FrozenDict[K, V]:
        return FrozenDict({**self._items, **other}) if isinstance(other, Mapping) else NotImplemented

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a FrozenDict cannot change")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("a FrozenDict cannot change")

    def __reduce__(self) -> tuple[type[FrozenDict[K, V]], tuple[dict[K, V]]]:
        return FrozenDict, (self._items,)

    def __repr__(self) -> str:
        return f"FrozenDict({self._items!r})"


def _flatten(mapping: FrozenDict[K, V]) -> tuple[list[V], tuple[K, ...]]:
    return list(mapping.values()), tuple(mapping)


def _flatten_keyed(mapping: FrozenDict[K, V]) -> tuple[list[tuple[Any, V]], tuple[K, ...]]:
    return [(_pytree.MappingKey(key), value) for key, value in mapping.items()], tuple(mapping)


def _unflatten(values: Iterable[V], keys: tuple[K, ...]) -> FrozenDict[K, V]:
    return FrozenDict(zip(keys, values, strict=True))


_pytree.register_pytree_node(FrozenDict, _flatten, _unflatten, flatten_with_keys_fn=_flatten_keyed)
torch.serialization.add_safe_globals([FrozenDict])
