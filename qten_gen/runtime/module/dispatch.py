"""Multiple dispatch: handlers registered for a pair of functional type and object type.

`Functional` keeps one table a class and looks handlers up along both method resolution orders. For a Module the look-up stands
in `forward`, where nn.Module's own call, with all hooks, reaches it. A class without registrations keeps the `forward` that
its author wrote.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Concatenate, ParamSpec, TypeVar

from torch import nn
from torch.compiler import is_dynamo_compiling

from .fast_paths import calling

F = TypeVar("F", bound="Functional")
T = TypeVar("T")
P = ParamSpec("P")
R = TypeVar("R")

Handler = Callable[..., Any]
"""A registered function `(functional, obj, **keywords)`: each has its own types, so its result can be anything."""

_registration = threading.RLock()


class Functional:
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

    _handlers: ClassVar[dict[type, Handler]] = {}
    """Handlers registered on this very class."""
    _table: ClassVar[dict[type, tuple[int, Handler]]] = {}
    """Handlers of this class and its bases, each with the place of the class that has it in the resolution order."""
    _resolved: ClassVar[dict[type, Handler | None]] = {}
    """What was found for an object type. A registration replaces all three, so that readers need no lock."""

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
            TypeError: `obj_type` is no class.
            ValueError: this class has another handler for `obj_type`; the error names both places.
        """
        if not isinstance(obj_type, type):
            raise TypeError(f"{cls.__name__}.register() takes a class, got {obj_type!r}")

        def decorate(handler: Callable[Concatenate[F, T, P], R]) -> Callable[Concatenate[F, T, P], R]:
            _add(cls, obj_type, handler)
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
        """Call the registered handler for `obj`.

        Raises:
            NotImplementedError: none is registered; the error names both types and what is registered.
            TypeError: two handlers apply and neither is more specific.
        """
        handler = find_handler(type(self), type(obj))
        if handler is None:
            raise NotImplementedError(_unhandled(type(self), type(obj)))
        return handler(self, obj, **keywords)

    def __call__(self, obj: object, /, **keywords: Any) -> Any:
        """`invoke`. A Module's call runs its `forward` where no handler is registered, and its hooks in both cases."""
        return self.invoke(obj, **keywords)


def find_handler(cls: type[Functional], obj_type: type) -> Handler | None:
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


def dispatching(forward: Callable[..., Any]) -> Callable[..., Any]:
    """`forward` with the handlers before it. `inspect.signature` still shows `forward`'s."""

    @functools.wraps(forward)
    def dispatch(self: Functional, /, *args: Any, **keywords: Any) -> Any:
        if args:
            handler = find_handler(type(self), type(args[0]))
            if handler is not None:
                return handler(self, *args, **keywords)
        return forward(self, *args, **keywords)

    dispatch._dispatches = True  # type: ignore[attr-defined] # a mark on the function, read by _dispatch_in_forward
    return dispatch


def _most_specific(cls: type[Functional], obj_type: type) -> Handler | None:
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


def _add(cls: type[Functional], obj_type: type, handler: Handler) -> None:
    with _registration:
        present = cls._handlers.get(obj_type)
        if present is not None and _line(present) != _line(handler):
            raise ValueError(
                f"{cls.__name__} has a handler for {obj_type.__name__} already: {_line(present)};"
                f" the second one is {_line(handler)}"
            )
        cls._handlers = {**cls._handlers, obj_type: handler}
        for heir in _with_subclasses(cls):
            _refresh(heir)


def _refresh(cls: type[Functional]) -> None:
    """Bring the table of a class up to date, and let its `forward` look there first."""
    table: dict[type, tuple[int, Handler]] = {}
    for place, ancestor in enumerate(cls.__mro__):
        for obj_type, handler in vars(ancestor).get("_handlers", {}).items():
            table.setdefault(obj_type, (place, handler))
    cls._table = table
    cls._resolved = {}
    if not issubclass(cls, nn.Module):
        if cls.__call__ is Functional.__call__ or _is_short(cls.__call__):
            takes_keywords = any(_may_take_keywords(handler) for _, handler in table.values())
            _put_call(cls, calling.functional_call(cls._resolved, takes_keywords))
    elif table:
        _dispatch_in_forward(cls)
        unchanged = all(getattr(cls, name) is getattr(nn.Module, name) for name in ("_call_impl", "_slow_forward"))
        if (cls.__call__ is nn.Module.__call__ and unchanged) or _is_short(cls.__call__):
            call = calling.dispatching_call(cls._resolved, find_handler) if unchanged else nn.Module.__call__
            _put_call(cls, call)


def _put_call(cls: type[Functional], call: Callable[..., Any]) -> None:
    if call is not nn.Module.__call__:
        call.__qualname__ = f"{cls.__qualname__}.__call__"
        call._is_short = True  # type: ignore[attr-defined] # a mark on the function, read by _is_short
    type.__setattr__(cls, "__call__", call)


def _is_short(call: Callable[..., Any]) -> bool:
    return getattr(call, "_is_short", False)


def _may_take_keywords(handler: Handler) -> bool:
    """Whether a handler might be called with more than the functional and the object."""
    try:
        parameters = list(inspect.signature(handler).parameters.values())
    except (TypeError, ValueError):
        return True
    return len(parameters) != 2 or any(p.kind is p.VAR_KEYWORD or p.kind is p.KEYWORD_ONLY for p in parameters)


def _with_subclasses(cls: type[Functional]) -> Iterator[type[Functional]]:
    yield cls
    for subclass in type.__subclasses__(cls):
        yield from _with_subclasses(subclass)


def _dispatch_in_forward(cls: type[Functional]) -> None:
    """Let the class's `forward`, its own or an inherited one, look for handlers first."""
    found = getattr(cls, "forward", None)
    if found is None or getattr(found, "_dispatches", False):
        return
    if (
        getattr(found, "__name__", "") == "_forward_unimplemented"
    ):  # nn.Module's, which says only that there is no forward
        fallback = _missing_forward
    else:
        fallback = vars(cls)["forward"] if "forward" in vars(cls) else _inherited_forward(cls, found)
    type.__setattr__(cls, "forward", dispatching(fallback))


def _inherited_forward(cls: type[Functional], found: Callable[..., Any]) -> Callable[..., Any]:
    """A forward for `cls` that runs the one of its bases."""

    @functools.wraps(found)
    def forward(self: Functional, /, *args: Any, **keywords: Any) -> Any:
        return super(cls, self).forward(*args, **keywords)  # type: ignore[misc] # there is one: it was found

    return forward


def _missing_forward(self: Functional, /, *args: Any, **keywords: Any) -> Any:
    if not args:
        raise NotImplementedError(f"{type(self).__name__} is called without an object, and has no forward")
    raise NotImplementedError(f"{_unhandled(type(self), type(args[0]))}, and it has no forward")


def _unhandled(cls: type[Functional], obj_type: type) -> str:
    registered = [f"{cls.__mro__[place].__name__}: {t.__name__}" for t, (place, _) in cls._table.items()]
    known = f"only for {', '.join(registered)}" if registered else "nor for anything else"
    return f"{cls.__name__} has no handler for {obj_type.__name__}, {known}"


def _ambiguous(cls: type[Functional], obj_type: type, by_object: Handler, by_functional: Handler) -> str:
    pair = f"{cls.__name__}, {obj_type.__name__}"
    return (
        f"two handlers apply to ({pair}): {_named(cls, by_object)} is for the more specific object,"
        f" {_named(cls, by_functional)} for the more specific functional; register one for ({pair})"
    )


def _named(cls: type[Functional], handler: Handler) -> str:
    names = [f"{cls.__mro__[place].__name__}, {t.__name__}" for t, (place, h) in cls._table.items() if h is handler]
    return f"({names[0]}) {_line(handler)}"


def _line(handler: Handler) -> str:
    code = getattr(handler, "__code__", None)
    return repr(handler) if code is None else f"at {code.co_filename}:{code.co_firstlineno}"
