"""Functional: what is called on objects of registered types. `dispatch.py`, which a registration loads, decides how."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import UnionType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, overload

from .module_base import REGISTRATION, HandlerTables

F = TypeVar("F", bound="Functional")
T = TypeVar("T")
P = ParamSpec("P")
R = TypeVar("R")
H = TypeVar("H", bound=Callable[..., Any])


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

    def __init_subclass__(cls, **keywords: object) -> None:
        super().__init_subclass__(**keywords)
        with REGISTRATION:
            # Tables of its own: a registration must not reach those of the base.
            cls._handlers, cls._resolved = {}, {}
            # Most modules have no handlers, and never load `dispatch`.
            if any(vars(base).get("_handlers") for base in cls.__mro__):
                from .dispatch import refresh

                refresh(cls)

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
        from .dispatch import put_handler, registrable

        types = registrable(cls.__name__, obj_type)

        def decorate(handler: H) -> H:
            if not callable(handler):
                raise TypeError(f"{cls.__name__}.register: expected a function, got {handler!r:.80}")
            put_handler(cls, types, handler, sys._getframe(1), replace=replace)
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
        return tuple(cls._handlers)

    def allows(self, obj: object) -> bool:
        """Return whether a handler, inherited ones included, is registered for `obj`.

        >>> class Length(Functional):
        ...     pass
        >>> handler = Length.register(str)(lambda length, text: len(text))
        >>> Length().allows("abc"), Length().allows(3)
        (True, False)

        Raises:
            RuntimeError: two abstract classes cover `obj`, and neither is more specific.
        """
        from .handlers import find_handler

        return find_handler(type(self), obj) is not None

    def invoke(self, obj: object, **keywords: Any) -> Any:
        """Call the registered handler for `obj`, and return what it returns.

        >>> class Length(Functional):
        ...     pass
        >>> handler = Length.register(str)(lambda length, text, scale=1: scale * len(text))
        >>> Length().invoke("abc", scale=2)
        6

        Raises:
            NotImplementedError: none is registered; the error names both types and what is registered.
            RuntimeError: two abstract classes cover `obj`, and neither is more specific.
        """
        from .handlers import find_handler, unhandled

        handler = find_handler(type(self), obj)
        if handler is None:
            raise NotImplementedError(unhandled(type(self), type(obj)))
        return handler(self, obj, **keywords)

    if TYPE_CHECKING:
        # A Module is a Functional whose call takes what its `forward` takes; ty compares the two where a class has several bases.
        def __call__(self, *args: Any, **keywords: Any) -> Any: ...

    else:

        def __call__(self, obj: object, /, **keywords: Any) -> Any:
            """`invoke`, in fewer steps where a handler was found before. A Module's call runs its `forward` where none is
            registered, and its hooks in both cases."""
            handler = None if keywords else type(self)._resolved.get(type(obj))
            return self.invoke(obj, **keywords) if handler is None else handler(self, obj)
