"""Multiple dispatch: what is called on objects of registered types.

`core/handlers.py` finds the handler for an object. This file decides how a class with handlers is called, in one place:
`_calls` makes the functions that stand in the class as `forward` and `__call__`, and `_install` puts them there. `forward` looks
for a handler and then runs the author's forward, so nn.Module's own call, with all hooks, dispatches too. `__call__` reaches the
same in fewer steps. A module class without handlers keeps the `forward` and `__call__` that it has.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Concatenate, NamedTuple, ParamSpec, TypeVar

from torch import nn

from .core.handlers import HandlerTables, add, collect, find_handler, unhandled
from .fast_paths import calling

F = TypeVar("F", bound="Functional")
T = TypeVar("T")
P = ParamSpec("P")
R = TypeVar("R")

_registration = threading.RLock()


class Dispatch(NamedTuple):
    """The functions that dispatch for a class; None where the class keeps its own."""

    forward: Callable[..., Any] | None = None
    call: Callable[..., Any] | None = None


class Functional(HandlerTables):
    """Something that is called on objects of registered types.

        class Area(Functional):
            pass

        @Area.register(Circle)
        def _(area: Area, circle: Circle) -> float:
            return math.pi * circle.radius**2

        Area()(Circle(1.0))

    The handler for a call is found along the method resolution orders of the functional's class and of the object's class: a
    subclass inherits registrations, and the more specific one wins.
    """

    _dispatch: ClassVar[Dispatch] = Dispatch()
    """The functions that were put into this very class, or into the base that it inherits them from."""

    def __init_subclass__(cls, **keywords: object) -> None:
        super().__init_subclass__(**keywords)
        cls._handlers = {}
        _refresh(cls)

    @classmethod
    def register(
        cls: type[F], obj_type: type[T], /
    ) -> Callable[[Callable[Concatenate[F, T, P], R]], Callable[Concatenate[F, T, P], R]]:
        """Decorate the handler for objects of `obj_type`: `handler(functional, obj, **keywords)`.

        It can be given at any time, also after the first call. For a Module, `forward` too looks for a handler first: inside
        a handler, call it on objects of other types only.

        Raises:
            TypeError: `obj_type` is not a class.
            ValueError: this class has another handler for `obj_type`; the error names both places.
        """
        if not isinstance(obj_type, type):
            raise TypeError(f"{cls.__name__}.register() takes a class, got {obj_type!r}")

        def decorate(handler: Callable[Concatenate[F, T, P], R]) -> Callable[Concatenate[F, T, P], R]:
            with _registration:
                add(cls, obj_type, handler)
                for heir in _with_subclasses(cls):
                    _refresh(heir)
            return handler

        return decorate

    @classmethod
    def get_applicable_types(cls) -> tuple[type, ...]:
        """The types registered on this very class, in the order of registration."""
        return tuple(cls._handlers)

    def allows(self, obj: object) -> bool:
        """Whether a handler, inherited ones included, is registered for `obj`.

        Raises:
            TypeError: two handlers apply and neither is more specific.
        """
        return find_handler(type(self), type(obj)) is not None

    def invoke(self, obj: object, **keywords: Any) -> Any:
        """Call the registered handler for `obj`, and return what it returns.

        Raises:
            NotImplementedError: none is registered; the error names both types and what is registered.
            TypeError: two handlers apply and neither is more specific.
        """
        handler = find_handler(type(self), type(obj))
        if handler is None:
            raise NotImplementedError(unhandled(type(self), type(obj)))
        return handler(self, obj, **keywords)

    def __call__(self, obj: object, /, **keywords: Any) -> Any:
        """`invoke`. A Module's call runs its `forward` where no handler is registered, and its hooks in both cases."""
        return self.invoke(obj, **keywords)


def _with_subclasses(cls: type[Functional]) -> Iterator[type[Functional]]:
    yield cls
    for subclass in type.__subclasses__(cls):
        yield from _with_subclasses(subclass)


def _refresh(cls: type[Functional]) -> None:
    """Bring the tables of a class up to date, and its calls with them."""
    collect(cls)
    if cls._table or not issubclass(cls, nn.Module):
        _install(cls, _calls(cls))


def _install(cls: type[Functional], dispatch: Dispatch) -> None:
    """Put the functions into the class. `_dispatch` remembers them, which tells them from an author's own."""
    for name, function in (("forward", dispatch.forward), ("__call__", dispatch.call)):
        if function is not None:
            type.__setattr__(cls, name, function)
    cls._dispatch = dispatch


def _calls(cls: type[Functional]) -> Dispatch:
    """How a class is called: by handlers alone where it is not a module, else by its forward, which looks for a handler first.

    A class that writes its own `__call__`, or its own way to it, keeps that.
    """
    if not issubclass(cls, nn.Module):
        replaced = cls.__call__ is Functional.__call__ or _is_ours(cls, cls.__call__)
        handlers = [handler for _, handler in cls._table.values()]
        return Dispatch(call=_named_call(cls, calling.functional_call(cls._resolved, handlers)) if replaced else None)
    unchanged = all(getattr(cls, name) is getattr(nn.Module, name) for name in ("_call_impl", "_slow_forward"))
    call: Callable[..., Any] | None = None
    if _is_ours(cls, cls.__call__) and not unchanged:
        call = nn.Module.__call__
    elif unchanged and (cls.__call__ is nn.Module.__call__ or _is_ours(cls, cls.__call__)):
        call = _named_call(cls, calling.module_call(cls._resolved))
    return Dispatch(_dispatching_forward(cls), call)


def _dispatching_forward(cls: type[Functional]) -> Callable[..., Any] | None:
    """A forward that looks for a handler and then runs the class's own or inherited one; None where a base has one already."""
    found = getattr(cls, "forward", None)
    if found is None:
        return None
    if _is_ours(cls, found):
        return cls._dispatch.forward if "_dispatch" in vars(cls) else None
    # nn.Module's says only that there is none.
    if getattr(found, "__name__", "") == "_forward_unimplemented":
        return calling.module_forward(_missing_forward)
    return calling.module_forward(vars(cls)["forward"] if "forward" in vars(cls) else _inherited_forward(cls, found))


def _is_ours(cls: type[Functional], function: Callable[..., Any]) -> bool:
    """Whether a function was put into the class or one of its bases by `_install`."""
    put = [made for ancestor in cls.__mro__ for made in vars(ancestor).get("_dispatch", ())]
    return any(made is function for made in put)


def _named_call(cls: type[Functional], call: Callable[..., Any]) -> Callable[..., Any]:
    """The call under the name of its class: a TypeError for a wrong argument shows it."""
    call.__qualname__ = f"{cls.__qualname__}.__call__"
    return call


def _inherited_forward(cls: type[Functional], found: Callable[..., Any]) -> Callable[..., Any]:
    """A forward for `cls` that runs the one of its bases."""

    @functools.wraps(found)
    def forward(self: Functional, /, *args: Any, **keywords: Any) -> Any:
        return super(cls, self).forward(*args, **keywords)  # type: ignore[misc] # there is one: it was found

    return forward


def _missing_forward(self: Functional, /, *args: Any, **keywords: Any) -> Any:
    if not args:
        raise NotImplementedError(f"{type(self).__name__} is called without an object, and has no forward")
    raise NotImplementedError(f"{unhandled(type(self), type(args[0]))}, and it has no forward")
