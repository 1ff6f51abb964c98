"""Handlers of multiple dispatch: the tables of a class, and which handler of them an object gets.

A handler is registered for a pair of functional class and object class. The object decides first: the most specific registered
type counts, whichever functional class it is registered on (`registered_types.py` has the rule). Then the functional class
decides: of the handlers for that type, the nearest one along its bases counts.

`_resolved` also caches the handlers of classes that are not registered themselves, of a thousand at most, as it keeps them alive.
Weak references would cost every call more than the look-up itself.
"""

from __future__ import annotations

from torch.compiler import is_dynamo_compiling

from ...declaring.declared_class import is_replaced
from ..handler_tables import Handler, HandlerTables, Registration, is_repeated
from .registered_types import find_by_bases, find_by_subclass, finder, is_open

_MOST = 1000
"""How many classes of objects that are not registered themselves are remembered, and thereby kept alive."""


class NotGiven:
    """The class of what stands for an argument that was not given. No handler applies to it, not even one for `object`."""


def collect(cls: type[HandlerTables]) -> None:
    """Fill the tables of a class from what is registered on it and its bases."""
    table: dict[type, Handler] = {}
    for ancestor in cls.__mro__:
        for obj_type, registration in vars(ancestor).get("_handlers", {}).items():
            table.setdefault(obj_type, registration.handler)
    cls._table = table
    cls._find_open = finder(table) if any(map(is_open, table)) else None
    # A new dict, because other threads read the old one meanwhile.
    cls._resolved = {**table, NotGiven: None}


def add(cls: type[HandlerTables], types: tuple[type, ...], registration: Registration, *, replace: bool) -> None:
    """Put a handler for some types among those of the class itself: for all of them, or for none if that raises.

    Raises:
        ValueError: the class has a handler for one of the types from another place, and `replace` is False; the error names
            both.
    """
    for obj_type in types:
        present = cls._handlers.get(obj_type)
        if present is not None and not replace and not is_repeated(present, registration):
            raise ValueError(
                f"{cls.__name__} has a handler for {obj_type.__name__} already: {present};"
                f" the second one is {registration}; pass replace=True to register() if it is to take the first one's place"
            )
    cls._handlers = {**cls._handlers, **dict.fromkeys(types, registration)}


def find_handler(cls: type[HandlerTables], obj_type: type) -> Handler | None:
    """The most specific handler of a functional class for an object class, or None.

    Raises:
        RuntimeError: two abstract classes cover `obj_type`, and neither is more specific.
    """
    if is_dynamo_compiling():
        return _traced(cls, obj_type)
    resolved, table = cls._resolved, cls._table
    try:
        return resolved[obj_type]
    except KeyError:
        found = _covering(cls, obj_type)
    handler = None if found is None else table.get(found)
    if cls._find_open is None and len(resolved) < _MOST + len(table):
        resolved[obj_type] = handler
    if cls._table is not table:  # another thread registered a handler in between
        resolved.pop(obj_type, None)
        return find_handler(cls, obj_type)
    return handler


def unhandled(cls: type[HandlerTables], obj_type: type) -> str:
    """The message for an object class without a handler."""
    owners = [(registered, owner) for registered, (owner, _) in _owners(cls).items() if not is_replaced(registered)]
    registered = [f"{owner.__name__}: {registered.__name__}" for registered, owner in owners]
    known = f"only for {', '.join(registered)}" if registered else "nor for anything else"
    return f"{cls.__name__} has no handler for {obj_type.__name__}, {known}"


def _traced(cls: type[HandlerTables], obj_type: type) -> Handler | None:
    """`find_handler` without the cache: a graph that fills it would be traced again for that."""
    table = cls._table
    if cls._find_open is None:
        is_builtin = obj_type.__module__ == "builtins"  # dynamo cannot iterate over their bases
        found = find_by_subclass(table, obj_type) if is_builtin else find_by_bases(table, obj_type)
        return None if found is None else table[found]
    if len(table) == 0:  # never: asking for the length guards the graph against registrations
        return None
    found = _covering(cls, obj_type)
    return None if found is None else table[found]


def _covering(cls: type[HandlerTables], obj_type: type) -> type | None:
    """The registered type that covers an object class."""
    find_open = cls._find_open
    return find_by_bases(cls._table, obj_type) if find_open is None else find_open(obj_type)


# The standard library looks for the type, in a way that dynamo cannot trace. This is what torch.compiler.assume_constant_result
# does; calling that would import dynamo.
_covering._dynamo_marked_constant = True  # type: ignore[attr-defined] # functions take any attribute


def _owners(cls: type[HandlerTables]) -> dict[type, tuple[type, Registration]]:
    """The registered types, each with the nearest class that has a handler for it."""
    found: dict[type, tuple[type, Registration]] = {}
    for ancestor in cls.__mro__:
        for obj_type, registration in vars(ancestor).get("_handlers", {}).items():
            found.setdefault(obj_type, (ancestor, registration))
    return found
