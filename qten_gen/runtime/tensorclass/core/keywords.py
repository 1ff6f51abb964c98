"""The error of a keyword that a method does not take, with what to write instead where tensordict takes it.

A method that has such keywords ends in `**refused: Never`: checkers refuse the call, and so does the method.

A required parameter that tensordict calls otherwise has a default that nobody gives. Python's own error would name the parameter,
and not the keyword that was written.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Mapping
from typing import Any, Final, TypeVar

F = TypeVar("F", bound=Callable[..., object])


class _Missing:
    """What a required parameter is where nothing is given for it."""

    __slots__ = ()


MISSING: Final[Any] = _Missing()


def reports_missing(first: str, absent: object = MISSING) -> Callable[[F], F]:
    """Call a function also where its required parameters from `first` on are not given, so that it reports that by itself.

    Checkers, `help` and `inspect.signature` see required parameters, as before.

    Args:
        absent: What the function finds in their place: None where that is not a value, because dynamo guards on MISSING as on
            any global.
    """

    def reporting(function: F) -> F:
        signature = inspect.signature(function)
        required = [
            name
            for name, one in signature.parameters.items()
            if one.kind is one.POSITIONAL_OR_KEYWORD and one.default is one.empty
        ]
        changed: Any = function
        changed.__signature__ = signature
        changed.__defaults__ = (absent,) * (len(required) - required.index(first)) + (changed.__defaults__ or ())
        return function

    return reporting


def unexpected(owner: object, method: str, given: Mapping[str, object], /, **required: object) -> TypeError:
    """The error about the keywords `given` of a call of `method`, to be raised.

    Args:
        owner: The object, or the class of a class method.
        required: The parameters that may be absent.
    """
    from .tensordict_keywords import INSTEAD, RENAMED  # most programs never need it

    call = f"{owner.__name__ if isinstance(owner, type) else type(owner).__name__}.{method}()"
    if not given:
        absent = MISSING if any(value is MISSING for value in required.values()) else None
        missing = [repr(name) for name, value in required.items() if value is absent]
        return TypeError(
            f"{call} missing {len(missing)} required positional argument{'s' * (len(missing) > 1)}: "
            + " and ".join(missing)
        )
    advice, renamed = INSTEAD.get(method, {}), RENAMED.get(method, {})
    name = next((name for name in given if name in advice), next(iter(given)))
    if name not in advice:
        return TypeError(f"{call} got an unexpected keyword argument {name!r}")
    others = [f", and {old}= is called {new}" for old, new in renamed.items() if old in given and old != name]
    return TypeError(f"{call} does not take {name}=; {advice[name]}{''.join(others)}")


def takes(method: str, given: Mapping[str, object], fields: Container[str]) -> bool:
    """Whether keywords that stand for fields are none of those that tensordict's method takes under names of no field."""
    if all(name in fields for name in given):
        return True
    from .tensordict_keywords import INSTEAD

    return INSTEAD.get(method, {}).keys().isdisjoint(given)
