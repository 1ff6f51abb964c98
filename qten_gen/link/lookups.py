"""Remembers results together with the look-ups that they took, so that a later run knows when they are still right.

The answer for a file depends on the answers to its look-ups, and on nothing else. A look-up is a text:

* `shop.model`: the content of the file that is this module, if there is one;
* `?shop.model`: whether there is such a file, and whether it is a package;
* `shop.`: whether any file is a module of that name or below it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Protocol, TypeVar, cast

_V = TypeVar("_V")

Results = dict[str, tuple[_V, frozenset[str]]]
"""Results by argument, each with the look-ups that it took."""


def widest(names: Collection[str]) -> frozenset[str]:
    """The look-ups, without any that another one answers too: the content of a file tells that there is one.

    >>> sorted(widest({"shop.model", "?shop.model", "?shop.base"}))
    ['?shop.base', 'shop.model']
    """
    return frozenset(name for name in names if not (name[0] == "?" and name[1:] in names))


class Lookups:
    """The look-ups of what is being computed at the moment."""

    def __init__(self) -> None:
        self._open: list[set[str]] = [set()]

    def note(self, name: str) -> None:
        """Add a look-up to the innermost computation."""
        self._open[-1].add(name)

    def add(self, names: Iterable[str]) -> None:
        """Add several look-ups."""
        self._open[-1].update(names)

    @contextmanager
    def recorded(self) -> Iterator[set[str]]:
        """The look-ups of a block. They do not count for what is around it."""
        self._open.append(set())
        try:
            yield self._open[-1]
        finally:
            self._open.pop()

    def once(self, results: Results[_V], key: str, compute: Callable[[str], _V]) -> _V:
        """The result for a key, which is computed at most once. Its look-ups count each time that it is used."""
        found = results.get(key)
        if found is None:
            with self.recorded() as names:
                value = compute(key)
            found = results[key] = (value, frozenset(names))
        self.add(found[1])
        return found[0]


class _Recording(Protocol):
    @property
    def lookups(self) -> Lookups: ...


_F = TypeVar("_F", bound=Callable[..., object])


def remembered(method: _F) -> _F:
    """A method that computes its result once for each argument, by `lookups.once` of its object."""
    attribute = f"{method.__name__}()"

    @wraps(method)
    def once(self: _Recording, key: str) -> object:
        return self.lookups.once(vars(self).setdefault(attribute, {}), key, lambda _: method(self, key))

    return cast(_F, once)
