"""The tables of a functional class, which have to be there before it has handlers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

if TYPE_CHECKING:
    from .registrations import Handler, Registration, Resolved

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

    # `typing.get_type_hints` evaluates what stands outside of this block, and finds no name that is imported for checkers.
    if TYPE_CHECKING:
        _handlers: ClassVar[dict[type, Registration]]
        """The handlers registered on this very class."""
        _table: ClassVar[dict[type, Handler]]
        """The handler for each type that is registered on this class or a base: that of the nearest base."""
        _find_open: ClassVar[FindType | None]
        """Finds the registered type for an object class where abstract classes are registered; None where bases say it all."""
        _resolved: ClassVar[Resolved]
        """The handler for an object class, or None, as far as one was looked for. It contains the registered types from the
        start, and no others where abstract classes are registered: a virtual subclass can be declared at any time."""
    else:
        _handlers = {}
        _table = {}
        _find_open = None
        _resolved = {}
    _dispatch: ClassVar[Dispatch] = Dispatch()
    """The functions that were put into this very class."""
