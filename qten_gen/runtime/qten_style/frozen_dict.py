"""A mapping that cannot change."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, overload

import torch
from torch.utils import _pytree

if TYPE_CHECKING:
    from _typeshed import SupportsKeysAndGetItem

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
W = TypeVar("W")


class FrozenDict(Mapping[K, V]):
    """A mapping that cannot change; hashable where its values are. Equal to any mapping with the same items.

    It takes what `dict` takes. A pytree whose leaves are the values.

    >>> frozen = FrozenDict({"weight": 1}, bias=2)
    >>> frozen | {"scale": 3}
    FrozenDict({'weight': 1, 'bias': 2, 'scale': 3})
    >>> frozen["bias"] = 3
    Traceback (most recent call last):
    TypeError: 'FrozenDict' object does not support item assignment

    Args:
        items: A mapping, or pairs of key and value.
        keywords: Further items, whose keys are strings. They win over `items`.

    Raises:
        TypeError: `items` is neither, or a key is not hashable.
        ValueError: an element of `items` is not a pair.
    """

    __slots__ = ("_items",)
    _items: dict[K, V]

    @overload
    def __init__(self, items: SupportsKeysAndGetItem[K, V] | Iterable[tuple[K, V]] = (), /) -> None: ...
    @overload
    def __init__(
        self: FrozenDict[str, W], items: SupportsKeysAndGetItem[str, W] | Iterable[tuple[str, W]] = (), /, **keywords: W
    ) -> None: ...

    def __init__(self, items: Any = (), /, **keywords: Any) -> None:
        given: dict[Any, V] = dict(items, **keywords)
        self._items = given

    def __getitem__(self, key: K) -> V:
        return self._items[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __or__(self, other: Mapping[K, V]) -> FrozenDict[K, V]:
        return FrozenDict({**self._items, **other}) if isinstance(other, Mapping) else NotImplemented

    def __ror__(self, other: Mapping[K, V]) -> FrozenDict[K, V]:
        return FrozenDict({**other, **self._items}) if isinstance(other, Mapping) else NotImplemented

    def __reversed__(self) -> Iterator[K]:
        return reversed(self._items)

    def __hash__(self) -> int:
        # As for equality, the order does not count.
        return hash(frozenset(self._items.items()))

    def __reduce__(self) -> tuple[type[FrozenDict[K, V]], tuple[dict[K, V]]]:
        # By the class and a dict, which a safe `torch.load` takes.
        return FrozenDict, (self._items,)

    def __repr__(self) -> str:
        return f"FrozenDict({self._items!r})"


def _flatten_with_keys(mapping: FrozenDict[K, V]) -> tuple[list[tuple[Any, V]], tuple[K, ...]]:
    return [(_pytree.MappingKey(key), value) for key, value in mapping.items()], tuple(mapping)


_pytree.register_pytree_node(
    FrozenDict,
    lambda mapping: ([*mapping.values()], tuple(mapping)),
    lambda values, keys: FrozenDict(zip(keys, values, strict=True)),
    flatten_with_keys_fn=_flatten_with_keys,
)
torch.serialization.add_safe_globals([FrozenDict])
