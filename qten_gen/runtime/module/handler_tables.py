"""The tables of a functional class, which have to be there before it has handlers, and the records of registrations.

A handler that is registered again in the same place takes the place of the old one. That is what happens when a module is
reloaded, a cell of a notebook runs again, or a function with a registration in it is called twice."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, ClassVar, NamedTuple
from weakref import ref

FindType = Callable[[type], type | None]
"""Gives the registered type for an object class, or None."""

REGISTRATION = threading.RLock()
"""Held by whoever changes the tables of classes."""


class Dispatch(NamedTuple):
    """The functions that dispatch for a class; None where it inherits the function."""

    forward: Callable[..., Any] | None = None
    call: Callable[..., Any] | None = None
    fallback: Callable[..., Any] | None = None
    """The function that `forward` runs where there is no handler."""


class HandlerTables:
    """The tables of a functional class. A registration replaces them by new ones, so that readers need no lock."""

    _handlers: ClassVar[dict[type, Registration]] = {}
    """The handlers registered on this very class."""
    _table: ClassVar[dict[type, Handler]] = {}
    """The handler for each type that is registered on this class or a base; the nearest base counts."""
    _find_open: ClassVar[FindType | None] = None
    """Finds the registered type for an object class where abstract classes are registered; None where bases say it all."""
    _by_instance: ClassVar[tuple[type, ...]] = ()
    """The registered types that have objects of other classes as their instances, such as nn.Buffer."""
    _resolved: ClassVar[Resolved] = {}
    """The handler for an object class, or None, as far as one was looked for. It contains the registered types from the start,
    and no others where abstract classes are registered: a virtual subclass can be declared at any time. Classes whose objects
    differ in their handler are not in it."""
    _dispatch: ClassVar[Dispatch] = Dispatch()
    """The functions that were put into this very class."""


Handler = Callable[..., Any]
"""A registered function `(functional, obj, **keywords)`: each has its own types, so its result can be anything."""

Resolved = dict[type, Handler | None]
"""The handler for each object class, or None for no handler."""


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
        return Registration, (*self[:5], _no_code, self.written)


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


def _no_code() -> None:
    return None
