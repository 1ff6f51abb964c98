"""The values that a declaration computes from its constructor arguments: derived values, and checks of the arguments.

`derived(...)` stands on the right of a field. `check(...)` is a statement of its own in the body of a Module, which keeps it in
the namespace of the class, where the metaclass finds it.
"""

from __future__ import annotations

import sys
from typing import Any, Literal, NamedTuple, cast

from ...common import language
from ...common.fingerprint_rows import RecordedCall
from .fields import refuse_misplaced


class Derived(NamedTuple):
    """The argument of `derived`."""

    expression: int | str

    def __specifier_call__(self) -> RecordedCall:
        return RecordedCall(language.DERIVED, (self.expression,))

    def __set_name__(self, owner: type, name: str) -> None:
        refuse_misplaced(owner, name, language.DERIVED)


class Checks:
    """The checks of a class body that runs."""

    def __init__(self) -> None:
        self.calls: list[RecordedCall] = []

    def __set_name__(self, owner: type, name: str) -> None:
        refuse_misplaced(owner, name, language.CHECK)


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
"""The flag of code that is that of a function."""
