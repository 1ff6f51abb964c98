"""Handlers of multiple dispatch: the tables of a class, and which handler of them an object gets.

A handler is registered for a pair of functional class and object class. A look-up goes along both method resolution orders: a
subclass of either has the handlers of its bases, and the more specific one wins.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from torch.compiler import is_dynamo_compiling

Handler = Callable[..., Any]
"""A registered function `(functional, obj, **keywords)`: each has its own types, so its result can be anything."""


class HandlerTables:
    """The tables of a functional class. A registration replaces all three, so that readers need no lock."""

    _handlers: ClassVar[dict[type, Handler]] = {}
    """Handlers registered on this very class."""
    _table: ClassVar[dict[type, tuple[int, Handler]]] = {}
    """Handlers of this class and its bases, each with the place of the class that has it in the resolution order."""
    _resolved: ClassVar[dict[type, Handler | None]] = {}
    """The handler found for an object class, or None, as far as one was looked for."""


def collect(cls: type[HandlerTables]) -> None:
    """Fill the tables of a class from what is registered on it and its bases."""
    table: dict[type, tuple[int, Handler]] = {}
    for place, ancestor in enumerate(cls.__mro__):
        for obj_type, handler in vars(ancestor).get("_handlers", {}).items():
            table.setdefault(obj_type, (place, handler))
    cls._table = table
    cls._resolved = {}


def add(cls: type[HandlerTables], obj_type: type, handler: Handler) -> None:
    """Put a handler among those of the class itself.

    Raises:
        ValueError: the class has another handler for `obj_type`; the error names both places.
    """
    present = cls._handlers.get(obj_type)
    if present is not None and _line(present) != _line(handler):
        raise ValueError(
            f"{cls.__name__} has a handler for {obj_type.__name__} already: {_line(present)};"
            f" the second one is {_line(handler)}"
        )
    cls._handlers = {**cls._handlers, obj_type: handler}


def find_handler(cls: type[HandlerTables], obj_type: type) -> Handler | None:
    """The most specific handler of a functional class for an object class, or None.

    Raises:
        TypeError: two handlers apply and neither is more specific.
    """
    if is_dynamo_compiling():
        return _most_specific(cls, obj_type)  # a graph that fills the cache would be traced again for it
    resolved = cls._resolved
    if obj_type in resolved:
        return resolved[obj_type]
    handler = _most_specific(cls, obj_type)
    resolved[obj_type] = handler
    return handler


def unhandled(cls: type[HandlerTables], obj_type: type) -> str:
    """The message for an object class without a handler."""
    registered = [f"{cls.__mro__[place].__name__}: {t.__name__}" for t, (place, _) in cls._table.items()]
    known = f"only for {', '.join(registered)}" if registered else "nor for anything else"
    return f"{cls.__name__} has no handler for {obj_type.__name__}, {known}"


def _most_specific(cls: type[HandlerTables], obj_type: type) -> Handler | None:
    """The first handler along the object's bases, unless one further along belongs to a more specific functional class."""
    table = cls._table
    best, found = len(cls.__mro__), None
    for candidate in obj_type.__mro__:
        if candidate in table:
            place, handler = table[candidate]
            if found is None:
                best, found = place, handler
            elif place < best:
                raise TypeError(_ambiguous(cls, obj_type, found, handler))
    return found


def _ambiguous(cls: type[HandlerTables], obj_type: type, by_object: Handler, by_functional: Handler) -> str:
    pair = f"{cls.__name__}, {obj_type.__name__}"
    return (
        f"two handlers apply to ({pair}): {_named(cls, by_object)} is for the more specific object,"
        f" {_named(cls, by_functional)} for the more specific functional; register one for ({pair})"
    )


def _named(cls: type[HandlerTables], handler: Handler) -> str:
    names = [f"{cls.__mro__[place].__name__}, {t.__name__}" for t, (place, h) in cls._table.items() if h is handler]
    return f"({names[0]}) {_line(handler)}"


def _line(handler: Handler) -> str:
    code = getattr(handler, "__code__", None)
    return repr(handler) if code is None else f"at {code.co_filename}:{code.co_firstlineno}"
