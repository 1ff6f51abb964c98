"""Multiple dispatch: what is called on objects of registered types.

`core/handlers.py` finds the handler for an object. This file decides how a class with handlers is called, in one place:
`connect` puts functions into the class as `forward` and `__call__`. `forward` looks for a handler and then runs the author's
forward, so nn.Module's own call, with all hooks, dispatches too. `__call__` reaches the same in fewer steps. A module class
without handlers keeps the `forward` and `__call__` that it has.

A `forward` that is assigned to a class later takes the place of the one that dispatches: it sees every call, as it does when
it is assigned to an instance. It can still call the `forward` that it replaced, which dispatches.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from torch import nn

from ..declaring.declared_class import earlier, on_declared_again
from .core.handler_tables import REGISTRATION, Dispatch, HandlerTables
from .core.handlers import add, collect, unhandled
from .core.registered_types import registrable as registrable
from .core.registrations import Handler, registration
from .fast_paths import calling
from .fast_paths.registration import KNOWN


def put_handler(
    cls: type[HandlerTables], types: tuple[type, ...], handler: Handler, statement: FrameType, *, replace: bool
) -> None:
    """Register a handler for these types, for the statement that a frame runs.

    Raises:
        ValueError: the class has a handler for one of them from another place, and `replace` is False.
    """
    made = registration(handler, statement)
    with REGISTRATION:
        add(cls, types, made, replace=replace)
        for each in types:
            # Objects that were made before their class was declared again are handled like others.
            cls._handlers = {**cls._handlers, **dict.fromkeys(earlier(each), made)}
        for heir in _with_subclasses(cls):
            refresh(heir)


def _with_subclasses(cls: type[HandlerTables]) -> Iterator[type[HandlerTables]]:
    yield cls
    for subclass in type.__subclasses__(cls):
        yield from _with_subclasses(subclass)


@on_declared_again
def _follow(old: type, new: type, file: str) -> None:
    """Let a class that is declared again have the handlers of the old one: those for its objects, and its own from other files.

    Its own from the same file, or the same cell of a notebook, are registered again after the statement, or are gone.
    """
    with REGISTRATION:
        for functional in [*_with_subclasses(HandlerTables)]:
            found = {new: functional._handlers[old]} if old in functional._handlers else {}
            if functional is new and issubclass(old, HandlerTables):
                found |= {obj_type: made for obj_type, made in old._handlers.items() if made.file != file}
            if found:
                # A handler that is registered for the new class already wins.
                functional._handlers = {**found, **functional._handlers}
                for heir in _with_subclasses(functional):
                    refresh(heir)


def refresh(cls: type[HandlerTables]) -> None:
    """Bring the tables of a class up to date, and its calls with them."""
    collect(cls)
    if issubclass(cls, nn.Module):
        if cls._table:
            connect(cls)
    elif _was_put(cls, cls.__call__):
        call = _named_call(cls, calling.functional_call())
        _put(cls, "__call__", call)
        cls._dispatch = Dispatch(call=call)


def connect(cls: type[HandlerTables]) -> None:
    """Let a module class with handlers dispatch: by its `forward`, and in fewer steps by its `__call__`.

    A class that writes its own `__call__`, or its own way to it, keeps that.
    """
    made = vars(cls).get("_dispatch", Dispatch())
    fallback = _fallback(cls)
    if fallback is not None:
        made = made._replace(forward=calling.module_forward(fallback), fallback=fallback)
        _put(cls, "forward", made.forward)
    cls._dispatch = made
    if _was_put(cls, cls.__call__) or cls.__call__ in (nn.Module.__call__, calling.by_nn_module):
        owner = _forward_owner(cls)
        its_functions = vars(owner)["_dispatch"]
        call = made.call or _named_call(cls, calling.module_call(its_functions.forward, its_functions.fallback))
        # A torch whose modules have other attributes may have hooks that the call does not know.
        is_usual = KNOWN and all(
            getattr(cls, name) is getattr(nn.Module, name) for name in ("_call_impl", "_slow_forward")
        )
        _put(cls, "__call__", call if is_usual else calling.by_nn_module)
        cls._dispatch = made._replace(call=call)


def _put(cls: type[HandlerTables], name: str, function: Callable[..., Any]) -> None:
    if vars(cls).get(name) is not function:
        type.__setattr__(cls, name, function)


def _forward_owner(cls: type[HandlerTables]) -> type:
    """The class that `forward` is inherited from."""
    return next(ancestor for ancestor in cls.__mro__ if "forward" in vars(ancestor))


def _fallback(cls: type[HandlerTables]) -> Callable[..., Any] | None:
    """The function that a `forward` which dispatches runs without a handler.

    None where the class inherits a `forward` that dispatches, and where one was assigned to a class that dispatches.
    """
    owner = _forward_owner(cls)
    if "_dispatch" in vars(owner):
        return None
    found = vars(owner)["forward"]
    # nn.Module's says only that there is none.
    if getattr(found, "__name__", "") == "_forward_unimplemented":
        return _missing_forward
    forward = calling.callable_forward(found)
    return forward if owner is cls else _inherited_forward(cls, forward)


def _was_put(cls: type[HandlerTables], function: Callable[..., Any]) -> bool:
    """Whether a function was made for the class or one of its bases, as its `forward` or `__call__`. `by_nn_module` was not."""
    put = [made for ancestor in cls.__mro__ for made in vars(ancestor).get("_dispatch", ())]
    return any(made is function for made in put)


def _named_call(cls: type[HandlerTables], call: Callable[..., Any]) -> Callable[..., Any]:
    """The call under the name of its class: a TypeError for a wrong argument shows it."""
    call.__qualname__ = f"{cls.__qualname__}.__call__"
    return call


def _inherited_forward(cls: type[HandlerTables], found: Callable[..., Any]) -> Callable[..., Any]:
    """A forward for `cls` that runs the one of its bases."""

    @functools.wraps(found)
    def forward(self: HandlerTables, /, *args: Any, **keywords: Any) -> Any:
        return super(cls, self).forward(*args, **keywords)  # type: ignore[misc] # there is one: it was found

    return forward


def _missing_forward(self: HandlerTables, /, *args: Any, **keywords: Any) -> Any:
    if not args:
        raise NotImplementedError(f"{type(self).__name__} is called without an object, and has no forward")
    raise NotImplementedError(f"{unhandled(type(self), type(args[0]))}, and it has no forward")
