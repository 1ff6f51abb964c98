"""Which of the registered types an object gets: the rule of `functools.singledispatch`.

The most specific one along the method resolution order of the object's class counts. An abstract class also covers its virtual
subclasses (`Mapping.register(Table)`) and what its `__subclasshook__` accepts; a runtime protocol covers every class with its
methods. It stands in the order where a base of that kind would stand.
"""

from __future__ import annotations

import functools
import types
import typing
from collections.abc import Callable, Iterable

from torch import Tensor

from ..handler_tables import FindType


def registrable(owner: str, given: object) -> tuple[type, ...]:
    """The classes that `register` is called with: one, or the members of a union.

    Raises:
        TypeError: it is not a class, or a class that no object's class can be compared with.
    """
    if isinstance(given, types.UnionType) or typing.get_origin(given) is typing.Union:
        return tuple(member for part in typing.get_args(given) for member in registrable(owner, part))
    if given is typing.Any:
        raise TypeError(f"{owner}.register() takes a class, got Any; register object for all types")
    if not isinstance(given, type):
        origin = typing.get_origin(given)
        advice = f"; register {origin.__name__} for all of them" if isinstance(origin, type) else ""
        raise TypeError(f"{owner}.register() takes a class or a union of classes, got {given!r}{advice}")
    if _checks_values(given):
        raise TypeError(
            f"{owner}.register() takes the class of objects, and no object has the class {given.__name__};"
            " register Tensor, and check the shape and dtype in the handler"
        )
    try:
        # Raises for a protocol that is not for run time, or has attributes that are no methods.
        issubclass(object, given)
    except TypeError as error:
        raise TypeError(
            f"{owner}.register() cannot tell from an object's class whether it is a {given.__name__}: {error}"
        ) from None
    return (given,)


def is_open(registered: type) -> bool:
    """Whether classes can count as subclasses of a type without having it among their bases."""
    return type(registered).__subclasscheck__ is not type.__subclasscheck__


def find_by_bases(registered: Iterable[type], obj_type: type) -> type | None:
    """The first registered type along the bases of an object class: the rule where no type is open."""
    for candidate in obj_type.__mro__:
        if candidate in registered:
            return candidate
    return None


def find_by_subclass(registered: Iterable[type], obj_type: type) -> type | None:
    """The result of `find_by_bases` for a class with one base, as the built-in ones have, by comparisons only."""
    found: type | None = None
    for candidate in registered:
        if issubclass(obj_type, candidate) and (found is None or issubclass(candidate, found)):
            found = candidate
    return found


def finder(registered: Iterable[type]) -> FindType:
    """The rule where some types are open. What it returns follows virtual subclasses that are registered later.

    Raises, when that is called:
        RuntimeError: two open types cover the class, and neither is more specific.
    """
    return _Finder(registered)


class _Finder:
    """Asks the table of `singledispatch`. A pickle has the types and not the table, which holds weak references."""

    __slots__ = ("_dispatch", "_registered")

    def __init__(self, registered: Iterable[type]) -> None:
        @functools.singledispatch
        def found(obj: object) -> None: ...

        self._registered = tuple(registered)
        for registered_type in self._registered:
            found.register(registered_type, _Found(registered_type))
        self._dispatch: Callable[[type], object] = found.dispatch

    def __call__(self, obj_type: type) -> type | None:
        answer = self._dispatch(obj_type)
        return answer.type if isinstance(answer, _Found) else None

    def __reduce__(self) -> tuple[type[_Finder], tuple[object, ...]]:
        return _Finder, (self._registered,)


class _Found:
    """A stand-in for a registered type in the table of `singledispatch`, which is made for functions."""

    __slots__ = ("type",)

    def __init__(self, registered: type) -> None:
        self.type = registered

    def __call__(self, obj: object) -> None: ...


def _checks_values(given: type) -> bool:
    """Whether a type describes tensors rather than being their class: `torch.FloatTensor`, an annotation of jaxtyping."""
    meta = type(given)
    return meta.__name__ == "tensortype" or (meta.__module__.startswith("jaxtyping") and issubclass(given, Tensor))
