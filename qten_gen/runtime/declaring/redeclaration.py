"""Classes that are declared a second time, because a cell of a notebook runs again or a module is reloaded.

Whoever keeps something by class, such as the handlers for its objects, registers a function here that moves it to the new class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from weakref import ReferenceType, WeakKeyDictionary, WeakSet, ref

Follow = Callable[[type, type, str], None]
"""Called with the old class, the new one, and the file of the old statement: each cell of a notebook is one."""

_followers: list[Follow] = []
_files: WeakKeyDictionary[type, str] = WeakKeyDictionary()
_earlier: WeakSet[type] = WeakSet()
_replaced: WeakKeyDictionary[type, ReferenceType[type]] = WeakKeyDictionary()


def on_declared_again(follow: Follow) -> Follow:
    """Decorator: call the function whenever a class is declared again."""
    _followers.append(follow)
    return follow


def declare(old: type | None, new: type, file: str) -> None:
    """Note the file of a new class. If it replaces a class that had its name, tell the followers.

    Args:
        old: The class that the name meant before, if there was one.
        new: The class that it means now.
        file: The file of the class statement.
    """
    _files[new] = file
    if old is not None:
        _replaced[new] = ref(old)
        _earlier.add(old)
        for follow in _followers:
            follow(old, new, _files.get(old, file))


def is_replaced(cls: type) -> bool:
    """Whether the name of a class means a later one."""
    return cls in _earlier


def earlier(cls: type) -> Iterator[type]:
    """The classes that had the name of a class before it, latest first, as far as something still holds them."""
    while (found := _replaced.get(cls)) is not None and (old := found()) is not None:
        yield old
        cls = old
