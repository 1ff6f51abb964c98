"""What is computed from other attributes: `derived(...)`, `check(...)` and `@virtual`.

`derived(...)` stands on the right of a field. `check(...)` is a statement of its own in the body of a Module, which keeps it in
the namespace of the class, where the metaclass finds it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, Never, TypeVar, cast, overload

import torch
from torch import Tensor, nn

from ...common import language
from ...common.fingerprint_rows import RecordedCall
from .fields import specifier


@specifier(language.DERIVED)
class Derived(NamedTuple):
    """The argument of `derived`."""

    expression: int | str

    def __specifier_call__(self) -> RecordedCall:
        return RecordedCall(language.DERIVED, (self.expression,))


@specifier(language.CHECK)
class Checks:
    """The checks of a class body that runs."""

    def __init__(self) -> None:
        self.calls: list[RecordedCall] = []


def derived(expression: int | str, *, init: Literal[False] = False) -> Any:  # what the annotation says
    """An attribute of a Module that is computed from its constructor arguments, and is not an argument itself.

    >>> class Attention(Module):
    ...     dim: int
    ...     heads: int = 2
    ...     hidden: int | None = None
    ...     head_dim: int = derived("dim // heads")
    ...     width: int = derived("hidden or 4*dim")
    ...     norm: nn.Parameter = param("head_dim", initializer=nn.init.ones_)
    >>> Attention(8).head_dim, Attention(8).width, Attention(8, hidden=5).width
    (4, 32, 5)

    Args:
        expression: An expression over config fields and other derived values. Python evaluates it in the constructor, before
            anything is registered.
        init: For type checkers: a derived value is not a constructor argument.

    Raises:
        DeclarationError: the class statement names what does not exist, or derives values from each other.
    """
    return Derived(expression)


def check(condition: str, /) -> None:
    """A statement in the body of a Module: what its constructor arguments must satisfy.

    >>> class Attention(Module):
    ...     dim: int
    ...     heads: int = 4
    ...     check("dim % heads == 0")
    >>> Attention(10)
    Traceback (most recent call last):
    ValueError: Attention: expected dim % heads == 0, got dim = 10, heads = 4

    The constructor evaluates it before anything is registered. Subclasses inherit it.

    Args:
        condition: An expression over config fields and derived values.

    Raises:
        TypeError: it is called outside of a class body.
    """
    frame = sys._getframe(1)
    namespace = frame.f_locals
    # The namespace of a class body is the one that the class is made of; the variables of a function are a copy.
    if "__qualname__" not in namespace or "__module__" not in namespace or frame.f_code.co_flags & _OPTIMIZED:
        raise TypeError('check(...) is a statement in the body of a Module: check("dim % heads == 0")')
    checks = cast(Checks, namespace.setdefault(language.CHECKS, Checks()))
    checks.calls.append(RecordedCall(language.CHECK, (condition,)))


_OPTIMIZED = 1
"""The flag of the code of a function."""


T_co = TypeVar("T_co", covariant=True)
V = TypeVar("V", bound=Tensor)

Materializer = Callable[[Any, torch.dtype, torch.device], V]
"""Computes a derived tensor: a method of the module, which is why `self` can be anything."""


@specifier(language.VIRTUAL)
@dataclass(frozen=True, slots=True)
class Virtual(Generic[T_co]):
    """A function decorated with `virtual`. A type checker reads it as a read-only attribute of the function's result type."""

    function: Callable[..., T_co]
    cached: bool = False
    cast: bool = False

    def __specifier_call__(self) -> RecordedCall:
        return RecordedCall(language.VIRTUAL, (self.function,), {"cached": self.cached, "cast": self.cast})

    if TYPE_CHECKING:

        @overload
        def __get__(self, obj: None, owner: type[object], /) -> property: ...
        @overload
        def __get__(self, obj: nn.Module, owner: type[object] | None = None, /) -> T_co: ...
        def __get__(self, obj: nn.Module | None, owner: type[object] | None = None, /) -> property | T_co: ...

        def __set__(self, obj: Never, value: Never, /) -> None: ...


@overload
def virtual(function: Materializer[V], /) -> Virtual[V]: ...
@overload
def virtual(*, cached: bool = False, cast: bool = False) -> Callable[[Materializer[V]], Virtual[V]]: ...
def virtual(
    function: Materializer[V] | None = None, /, *, cached: bool = False, cast: bool = False
) -> Virtual[V] | Callable[[Materializer[V]], Virtual[V]]:
    """Decorate a method of a Module: its result becomes a read-only attribute that follows the module's dtype and device.

    The method is called when the attribute is read, with the dtype and device of the module's first parameter (see
    `qten_gen.runtime.module.virtual_tensors`). Its result is moved to the device, and keeps its shape and dtype. It is never in
    the state dict.

    >>> class Mask(Module):
    ...     dim: int
    ...     @virtual(cached=True)
    ...     def causal(self, dtype: torch.dtype, device: torch.device) -> Tensor:
    ...         return torch.ones(self.dim, self.dim, dtype=torch.bool, device=device).tril()
    >>> Mask(2).causal.tolist()
    [[True, False], [True, True]]

    Args:
        function: The method, where the decorator is used without parentheses.
        cached: Whether the result is kept until something else has its place that the method reads, in methods of the class
            too: config fields, derived values, plain attributes; or until the module has another dtype, device or training mode.
            Where a list or another object that can change in place is among them, nothing is kept.
        cast: Whether a floating point result is cast to the module's dtype. Other results are not.

    Raises:
        TypeError: what is decorated is no function.
        DeclarationError: the result is cached, and the method reads a parameter, a buffer or a child, or passes the module on.
    """
    if function is None:
        return lambda function: Virtual(function, cached, cast)
    if not callable(function):
        raise TypeError(f"@virtual decorates a method, got {function!r}")
    return Virtual(function)
