"""Multiple dispatch: what is called on objects of registered types.

`core/handlers.py` finds the handler for an object. This file decides how a class with handlers is called, in one place:
`connect` puts functions into the class as `forward` and `__call__`. `forward` looks for a handler and then runs the author's
forward, so nn.Module's own call, with all hooks, dispatches too. `__call__` reaches the same in fewer steps. A module class
without handlers keeps the `forward` and `__call__` that it has.

A `forward` that is assigned to a class later takes the place of the one that dispatches: it sees every call, as it does when
it is assigned to an instance. What it replaced still dispatches where it calls that.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Iterator
from types import UnionType
from typing import Any, ClassVar, Concatenate, NamedTuple, ParamSpec, TypeVar, overload

from torch import nn

from ..declaring.again import earlier, is_replaced, on_declared_again
from .core.handlers import HandlerTables, add, collect, find_handler, unhandled
from .core.registered_types import registrable
from .core.registrations import registration
from .fast_paths import calling

F = TypeVar("F", bound="Functional")
T = TypeVar("T")
P = ParamSpec("P")
R = TypeVar("R")
H = TypeVar("H", bound=Callable[..., Any])

_registration = threading.RLock()


class Dispatch(NamedTuple):
    """The functions that dispatch for a class; None where it needs none of its own."""

    forward: Callable[..., Any] | None = None
    call: Callable[..., Any] | None = None
    fallback: Callable[..., Any] | None = None
    """What `forward` runs where there is no handler."""


class Functional(HandlerTables):
    """Something that is called on objects of registered types.

    >>> class Length(Functional):
    ...     pass
    >>> @Length.register(str)
    ... def of_text(length: Length, text: str) -> int:
    ...     return len(text)
    >>> Length()("abc")
    3

    The object decides first: the most specific type counts that is registered on the functional's class or a base of it. Of
    several handlers for that type, the one of the nearest base counts. A subclass inherits registrations.
    """

    _dispatch: ClassVar[Dispatch] = Dispatch()
    """The functions that were put into this very class."""

    def __init_subclass__(cls, **keywords: object) -> None:
        super().__init_subclass__(**keywords)
        with _registration:
            cls._handlers = {}
            _refresh(cls)

    @overload
    @classmethod
    def register(  # type: ignore[overload-overlap] # the second is for abstract classes, which are not a `type[T]` to mypy
        cls: type[F], obj_type: type[T], /, *, replace: bool = False
    ) -> Callable[[Callable[Concatenate[F, T, P], R]], Callable[Concatenate[F, T, P], R]]: ...

    @overload
    @classmethod
    def register(cls, obj_type: type[Any] | UnionType, /, *, replace: bool = False) -> Callable[[H], H]: ...

    @classmethod
    def register(cls, obj_type: type[Any] | UnionType, /, *, replace: bool = False) -> Callable[[H], H]:
        """Decorate the handler for objects of `obj_type`: `handler(functional, obj, **keywords)`.

        >>> class Length(Functional):
        ...     pass
        >>> @Length.register(list | tuple)
        ... def of_sequence(length: Length, sequence: list | tuple) -> int:
        ...     return len(sequence)
        >>> Length()([1, 2]), Length()((1,))
        (2, 1)

        It can be given at any time, also after the first call. For a Module, `forward` too looks for a handler first: inside
        a handler, call it on objects of other types only. When the statement runs again, as it does when its module is
        reloaded or its cell of a notebook is run again, the new handler takes the place of the old one.

        Args:
            obj_type: A class: an abstract one covers its virtual subclasses too, and a runtime protocol every class with its
                methods. A union registers the handler for each of its members.
            replace: Whether the handler may take the place of one that was registered elsewhere.

        Raises:
            TypeError: `obj_type` is not a class, or not one that the class of an object can be compared with; or the handler
                cannot be called.
            ValueError: this class has a handler for `obj_type` from another place; the error names both places.
        """
        types = registrable(cls.__name__, obj_type)

        def decorate(handler: H) -> H:
            if not callable(handler):
                raise TypeError(f"{cls.__name__}.register: expected a function, got {handler!r:.80}")
            made = registration(handler, sys._getframe(1))
            with _registration:
                for each in types:
                    add(cls, each, made, replace=replace)
                    # Objects that were made before their class was declared again are handled like others.
                    cls._handlers = {**cls._handlers, **dict.fromkeys(earlier(each), made)}
                for heir in _with_subclasses(cls):
                    _refresh(heir)
            return handler

        return decorate

    @classmethod
    def get_applicable_types(cls) -> tuple[type, ...]:
        """The types registered on this very class, in the order of registration.

        >>> class Length(Functional):
        ...     pass
        >>> handler = Length.register(str)(lambda length, text: len(text))
        >>> Length.get_applicable_types()
        (<class 'str'>,)
        """
        return tuple(found for found in cls._handlers if not is_replaced(found))

    def allows(self, obj: object) -> bool:
        """Whether a handler, inherited ones included, is registered for `obj`.

        >>> class Length(Functional):
        ...     pass
        >>> handler = Length.register(str)(lambda length, text: len(text))
        >>> Length().allows("abc"), Length().allows(3)
        (True, False)

        Raises:
            TypeError: two abstract classes cover `obj`, and neither is more specific.
        """
        return find_handler(type(self), type(obj)) is not None

    def invoke(self, obj: object, **keywords: Any) -> Any:
        """Call the registered handler for `obj`, and return what it returns.

        >>> class Length(Functional):
        ...     pass
        >>> handler = Length.register(str)(lambda length, text, scale=1: scale * len(text))
        >>> Length().invoke("abc", scale=2)
        6

        Raises:
            NotImplementedError: none is registered; the error names both types and what is registered.
            TypeError: two abstract classes cover `obj`, and neither is more specific.
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


@on_declared_again
def _follow(old: type, new: type, file: str) -> None:
    """Let a class that is declared again have the handlers of the old one: those for its objects, and its own from other files.

    Its own from the same file, or the same cell of a notebook, are registered again after the statement, or are gone.
    """
    with _registration:
        for functional in [*_with_subclasses(Functional)]:
            found = {new: functional._handlers[old]} if old in functional._handlers else {}
            if functional is new and issubclass(old, Functional):
                found |= {obj_type: made for obj_type, made in old._handlers.items() if made.file != file}
            if found:
                functional._handlers = {**found, **functional._handlers}
                for heir in _with_subclasses(functional):
                    _refresh(heir)


def _refresh(cls: type[Functional]) -> None:
    """Bring the tables of a class up to date, and its calls with them."""
    collect(cls)
    if issubclass(cls, nn.Module):
        if cls._table:
            connect(cls)
    elif cls.__call__ is Functional.__call__ or _is_ours(cls, cls.__call__):
        call = _named_call(cls, calling.functional_call(cls._resolved, cls._table.values()))
        _put(cls, "__call__", call)
        cls._dispatch = Dispatch(call=call)


def reconnect(cls: type[Functional]) -> None:
    """Let a module class and its heirs be called as they have to be after `forward` was assigned or deleted."""
    with _registration:
        for heir in _with_subclasses(cls):
            if heir._table:
                connect(heir)


def connect(cls: type[Functional]) -> None:
    """Let a module class with handlers dispatch: by its `forward`, and in fewer steps by its `__call__`.

    A class that writes its own `__call__`, or its own way to it, keeps that.
    """
    made = vars(cls).get("_dispatch", Dispatch())
    fallback = _fallback(cls)
    if fallback is not None:
        made = made._replace(forward=calling.module_forward(fallback), fallback=fallback)
        _put(cls, "forward", made.forward)
    cls._dispatch = made
    if _is_ours(cls, cls.__call__) or cls.__call__ in (nn.Module.__call__, calling.by_nn_module):
        home = _home(cls)
        found = vars(home)["_dispatch"]
        call = made.call or _named_call(cls, calling.module_call(cls._resolved, found.forward, found.fallback))
        is_usual = all(getattr(cls, name) is getattr(nn.Module, name) for name in ("_call_impl", "_slow_forward"))
        _put(cls, "__call__", call if is_usual and vars(home)["forward"] is found.forward else calling.by_nn_module)
        cls._dispatch = made._replace(call=call)


def _put(cls: type[Functional], name: str, function: Callable[..., Any]) -> None:
    if vars(cls).get(name) is not function:
        type.__setattr__(cls, name, function)


def _home(cls: type[Functional]) -> type:
    """The class that `forward` is inherited from."""
    return next(ancestor for ancestor in cls.__mro__ if "forward" in vars(ancestor))


def _fallback(cls: type[Functional]) -> Callable[..., Any] | None:
    """What a `forward` that dispatches has to run without a handler; None where there is such a `forward` already.

    None as well where something was assigned to a class that dispatches: that calls what it replaced, or does without handlers.
    """
    home = _home(cls)
    if "_dispatch" in vars(home):
        return None
    found = vars(home)["forward"]
    # nn.Module's says only that there is none.
    if getattr(found, "__name__", "") == "_forward_unimplemented":
        return _missing_forward
    forward = calling.callable_forward(found)
    return forward if home is cls else _inherited_forward(cls, forward)


def _is_ours(cls: type[Functional], function: Callable[..., Any]) -> bool:
    """Whether a function was put into the class or one of its bases by `_put`."""
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
