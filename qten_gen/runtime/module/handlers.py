"""Handlers of multiple dispatch: which one an object gets.

A handler is registered for a pair of functional class and object class. The object decides first, by the rule of
`functools.singledispatch`: the most specific type counts along the method resolution order of the object's class, whichever
functional class it is registered on. An abstract class also covers its virtual subclasses (`Mapping.register(Table)`) and what
its `__subclasshook__` accepts, a runtime protocol every class with its methods; it stands in the order where a base of that
kind would. A proxy or a mock has the class that it shows as its `__class__`. Then the functional class decides: of the handlers
for that type, the nearest one along its bases counts.

A handler that is registered again in the same place, by a reload or a cell that runs again, takes the place of the old one.

`_resolved` also caches the handlers of classes that are not registered themselves, of a thousand at most, as it keeps them
alive. Weak references would cost every call more than the look-up itself.
"""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable
from types import CodeType, FrameType
from typing import NamedTuple
from weakref import ref

from torch import Tensor, nn
from torch.compiler import is_dynamo_compiling

from .module_base import Handler, HandlerTables


class Registration(NamedTuple):
    """A handler, and the statement that registered it."""

    handler: Handler
    file: str
    line: int
    module: str
    scope: str
    """The qualified name of the function around the statement; `<module>` at the top level of a file."""
    code: Callable[[], CodeType | None]
    """Refers to the code that the statement belongs to; executing a changed or reloaded file makes another one."""
    written: tuple[str, int] | None
    """The file and line of the handler itself, which the statement may have been given by others."""

    def __str__(self) -> str:
        return f"at {self.file}:{self.line}"

    def __reduce__(self) -> tuple[type[Registration], tuple[object, ...]]:
        """In another process the class of a script is without the code that registered its handlers."""
        return Registration, (*self[:5], types.NoneType, self.written)


def registration(handler: Handler, statement: FrameType) -> Registration:
    """The record of a handler that is registered by the statement that a frame runs."""
    code = statement.f_code
    module = str(statement.f_globals.get("__name__", ""))
    own = getattr(inspect.unwrap(handler), "__code__", None)
    written = (own.co_filename, own.co_firstlineno) if isinstance(own, CodeType) else None
    return Registration(handler, code.co_filename, statement.f_lineno, module, code.co_qualname, ref(code), written)


def is_repeated(old: Registration, new: Registration) -> bool:
    """Return whether the statement of `old` runs a second time, as it is or after a change of its file."""
    same_statement = (old.file, old.line, old.written) == (new.file, new.line, new.written)
    # Of one execution of a file, the code is the same object: then these are two statements in one function.
    same_scope = (old.module, old.scope) == (new.module, new.scope)
    return same_statement or (same_scope and old.code() is not new.code())


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
            " register Tensor, and ask isinstance() in the handler"
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
    """Return whether classes can count as subclasses of a type without having it among their bases."""
    return type(registered).__subclasscheck__ is not type.__subclasscheck__


class Finder:
    """Finds the handler for an object class in a table, by `singledispatch`, which follows virtual subclasses that are registered
    later. A pickle has the table alone, because the one of `singledispatch` holds weak references.

    Raises, when it is called:
        RuntimeError: two open types cover the class, and neither is more specific.
    """

    __slots__ = ("_dispatch", "_table")

    def __init__(self, table: dict[type, Handler]) -> None:
        found = functools.singledispatch(_no_handler)
        for obj_type, handler in table.items():
            found.register(obj_type, handler)
        self._table, self._dispatch = table, found.dispatch

    def __call__(self, obj_type: type) -> Handler | None:
        handler = self._dispatch(obj_type)
        return None if handler is _no_handler else handler

    def __reduce__(self) -> tuple[type[Finder], tuple[dict[type, Handler]]]:
        return Finder, (self._table,)


def _no_handler(*given: object) -> None: ...


def _checks_values(given: type) -> bool:
    """Return whether a type describes tensors rather than being their class: `torch.FloatTensor`, nn.Buffer, an annotation of
    jaxtyping.
    """
    meta = type(given)
    of_jaxtyping = meta.__module__.startswith("jaxtyping") and issubclass(given, Tensor)
    return of_jaxtyping or meta.__name__ == "tensortype" or given is nn.Buffer


_MOST = 1000
"""How many classes of objects that are not registered themselves are remembered, and thereby kept alive."""


class NotGiven:
    """The class of what stands for an argument that was not given. No handler applies to it, not even one for `object`."""


def collect(cls: type[HandlerTables]) -> None:
    """Fill the tables of a class from what is registered on it and its bases."""
    table = {obj_type: registration.handler for obj_type, (_, registration) in _owners(cls).items()}
    cls._table, cls._find = table, Finder(table)
    cls._is_open = any(map(is_open, table))
    # A new dict, because other threads read the old one meanwhile.
    cls._resolved = {NotGiven: None, **table}


def add(cls: type[HandlerTables], types: tuple[type, ...], registration: Registration, *, replace: bool) -> None:
    """Give the class itself a handler for some types: for all of them, or for none if that raises.

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


def find_handler(cls: type[HandlerTables], obj: object) -> Handler | None:
    """The most specific handler of a functional class for an object, or None.

    Raises:
        RuntimeError: two abstract classes cover the object's class, and neither is more specific.
    """
    if is_dynamo_compiling():
        return _traced(cls, obj)
    obj_type = type(obj)
    resolved, table = cls._resolved, cls._table
    try:
        return resolved[obj_type]
    except KeyError:
        shown = obj.__class__  # of a proxy or a mock, the class that it stands for
    handler = cls._find(shown)
    if shown is obj_type and not cls._is_open and len(resolved) < _MOST + len(table):
        resolved[obj_type] = handler
    if cls._table is not table:  # another thread registered a handler in between
        resolved.pop(obj_type, None)
        return find_handler(cls, obj)
    return handler


def unhandled(cls: type[HandlerTables], obj_type: type) -> str:
    """The message for an object class without a handler."""
    registered = [f"{owner.__name__}: {registered.__name__}" for registered, (owner, _) in _owners(cls).items()]
    known = f"only for {', '.join(registered)}" if registered else "nor for anything else"
    return f"{cls.__name__} has no handler for {obj_type.__name__}, {known}"


def _traced(cls: type[HandlerTables], obj: object) -> Handler | None:
    """`find_handler` without the cache: a graph that fills it would be traced again for that."""
    handlers = [*cls._table.values()]  # which guards the graph against registrations
    position = _position(cls, type(obj))
    return None if position is None else handlers[position]


def _position(cls: type[HandlerTables], obj_type: type) -> int | None:
    """The position of a handler in the table: dynamo takes a number for a constant."""
    handler = cls._find(obj_type)
    return None if handler is None else [*cls._table.values()].index(handler)


# The standard library looks for the type, in a way that dynamo cannot trace. This is what torch.compiler.assume_constant_result
# does; calling that would import dynamo.
_position._dynamo_marked_constant = True  # type: ignore[attr-defined] # functions take any attribute


def _owners(cls: type[HandlerTables]) -> dict[type, tuple[type, Registration]]:
    """The registered types, each with the nearest class that has a handler for it."""
    found: dict[type, tuple[type, Registration]] = {}
    for ancestor in cls.__mro__:
        for obj_type, registration in vars(ancestor).get("_handlers", {}).items():
            found.setdefault(obj_type, (ancestor, registration))
    return found
